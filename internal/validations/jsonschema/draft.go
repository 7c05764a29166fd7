package jsonschema

import (
	"maps"
	"strings"
)

// draft is a version of JSON Schema: which keywords it has, and which of those contain schemas. A draft is one of the
// values draft4 to draft2020. Each has the keywords of the one before it, unless it says otherwise.
type draft struct {
	uri string // of its metaschema, without a fragment
	id  string // the keyword that sets the URI of a schema

	applicators map[string]applicator

	since int // its position among the drafts
}

// applicator describes how a keyword applies schemas.
type applicator struct {
	shape   shape
	inPlace bool // to the same value as the schema itself
	// add adds a schema that the keyword contains to the rules of the schema; nil if only references lead there.
	add func(*rules, edge)
}

// shape describes how a keyword contains schemas.
type shape uint8

// The shapes, as bits.
const (
	one        shape = 1 << iota // one schema
	many                         // an array of schemas
	byName                       // an object of schemas; arrays in dependencies are not schemas
	noBooleans                   // booleans are not schemas: false forbids unnamed members, or is ignored
)

// The drafts that differ in ways that matter here.
//
//nolint:gochecknoglobals // they never change
var (
	draft4 = &draft{uri: "http://json-schema.org/draft-04/schema", id: "id", applicators: map[string]applicator{
		"additionalItems":      {one | noBooleans, false, func(r *rules, e edge) { r.forArrays().additional = e.to }},
		"additionalProperties": {one | noBooleans, false, func(r *rules, e edge) { r.forObjects().additional = e.to }},
		"allOf":                {many, true, func(r *rules, e edge) { addTo(&r.forValue().allOf, e) }},
		"anyOf":                {many, true, func(r *rules, e edge) { addTo(&r.forValue().anyOf, e) }},
		"definitions":          {byName, false, nil},
		"dependencies":         {byName, true, (*rules).addDependent},
		"items":                {one | many, false, (*rules).addItems},
		"not":                  {one, true, func(r *rules, e edge) { r.forValue().not = e.to }},
		"oneOf":                {many, true, func(r *rules, e edge) { addTo(&r.forValue().oneOf, e) }},
		"patternProperties":    {byName, false, (*rules).addPattern},
		"properties":           {byName, false, func(r *rules, e edge) { r.forObjects().properties.add(e.name, e.to) }},
	}}
	draft6 = draft4.next("http://json-schema.org/draft-06/schema", map[string]applicator{
		"contains":      {one, false, func(r *rules, e edge) { r.forArrays().contains = e.to }},
		"propertyNames": {one, false, func(r *rules, e edge) { r.forObjects().names = e.to }},
	})
	draft7 = draft6.next("http://json-schema.org/draft-07/schema", map[string]applicator{
		"if":   {one, true, func(r *rules, e edge) { r.forValue().cond = e.to }},
		"then": {one, true, func(r *rules, e edge) { r.forValue().then = e.to }},
		"else": {one, true, func(r *rules, e edge) { r.forValue().other = e.to }},
	})
	draft2019 = draft7.next("https://json-schema.org/draft/2019-09/schema", map[string]applicator{
		"$defs":                 {byName, false, nil},
		"dependentSchemas":      {byName, true, (*rules).addDependent},
		"unevaluatedItems":      {one, false, func(r *rules, e edge) { r.forArrays().unevaluated = e.to }},
		"unevaluatedProperties": {one, false, func(r *rules, e edge) { r.forObjects().unevaluated = e.to }},
	}, "dependencies")
	draft2020 = draft2019.next("https://json-schema.org/draft/2020-12/schema", map[string]applicator{
		"items":       {one, false, (*rules).addItems},
		"prefixItems": {many, false, (*rules).addPrefix},
	}, "additionalItems")

	drafts = []*draft{draft4, draft6, draft7, draft2019, draft2020} // in order
)

// next returns the draft after d, which adds or redefines some keywords and drops others.
func (d *draft) next(uri string, added map[string]applicator, dropped ...string) *draft {
	n := &draft{uri: uri, id: "$id", applicators: maps.Clone(d.applicators), since: d.since + 1}
	maps.Copy(n.applicators, added)
	for _, keyword := range dropped {
		delete(n.applicators, keyword)
	}
	return n
}

// atLeast reports whether d is another draft or a later one.
func (d *draft) atLeast(other *draft) bool { return d.since >= other.since }

// hidesSiblings reports whether the keywords next to a $ref are ignored.
func (d *draft) hidesSiblings() bool { return !d.atLeast(draft2019) }

// hasBooleans reports whether true and false are schemas.
func (d *draft) hasBooleans() bool { return d.atLeast(draft6) }

// reads reports whether a keyword belongs to the draft, or to none at all.
func (d *draft) reads(keyword string) bool {
	switch keyword {
	case "const":
		return d.atLeast(draft6)
	case "dependentRequired", "minContains", "maxContains":
		return d.atLeast(draft2019)
	case "$recursiveRef":
		return d == draft2019
	case "$dynamicRef":
		return d == draft2020
	}
	_, isRead := d.applicators[keyword]
	for _, other := range drafts {
		if _, ok := other.applicators[keyword]; ok {
			return isRead
		}
	}
	return true
}

// Values of $schema that mean Draft 4 besides its own URI: the URI without a draft, which nearly all real DataSchemas
// have, and that of Draft 3, which Deckhand treats as Draft 4.
const (
	anyDraft = "http://json-schema.org/schema"
	draft3   = "http://json-schema.org/draft-03/schema"
)

// draftNamed returns the draft that a value of $schema identifies, nil if it is unknown. The scheme may be http or
// https, and an empty fragment is ignored.
func draftNamed(uri string) *draft {
	uri = bareURI(uri)
	if uri == bareURI(anyDraft) || uri == bareURI(draft3) {
		return draft4
	}
	for _, d := range drafts {
		if uri == bareURI(d.uri) {
			return d
		}
	}
	return nil
}

// bareURI returns a URI without its scheme and without an empty fragment.
func bareURI(uri string) string {
	uri = strings.TrimSuffix(uri, "#")
	if rest, ok := strings.CutPrefix(uri, "https://"); ok {
		return rest
	}
	return strings.TrimPrefix(uri, "http://")
}
