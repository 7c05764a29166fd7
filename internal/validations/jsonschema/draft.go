package jsonschema

import (
	"maps"
	"strings"
)

// draft is a version of JSON Schema, with its keywords and their meaning.
type draft struct {
	name string // "Draft 7"
	uri  string // of its metaschema, without a fragment
	id   string // the keyword that sets the URI of a schema

	applicators map[string]applicator
	// since orders the drafts, to compare them.
	since int
}

// applicator describes how a keyword applies schemas.
type applicator struct {
	shape   shape
	inPlace bool // to the same value as the schema itself
}

// shape describes how a keyword contains schemas.
type shape uint8

const (
	one     shape = 1 << iota // one schema
	many                      // an array of schemas
	byName                    // an object of schemas; arrays in dependencies are not schemas
	noBools                   // booleans are not schemas: false forbids unnamed members, or is ignored
)

// The drafts that differ in ways that matter here, in order.
const (
	since4 = iota
	since6
	since7
	since2019
	since2020
)

//nolint:gochecknoglobals // they never change
var (
	draft4 = &draft{"Draft 4", "http://json-schema.org/draft-04/schema", "id", map[string]applicator{
		"additionalItems":      {one | noBools, false},
		"additionalProperties": {one | noBools, false},
		"allOf":                {many, true},
		"anyOf":                {many, true},
		"definitions":          {byName, false},
		"dependencies":         {byName, true},
		"items":                {one | many, false},
		"not":                  {one, true},
		"oneOf":                {many, true},
		"patternProperties":    {byName, false},
		"properties":           {byName, false},
	}, since4}
	draft6 = draft4.next("Draft 6", "http://json-schema.org/draft-06/schema", since6, map[string]applicator{
		"contains":      {one, false},
		"propertyNames": {one, false},
	})
	draft7 = draft6.next("Draft 7", "http://json-schema.org/draft-07/schema", since7, map[string]applicator{
		"if":   {one, true},
		"then": {one, true},
		"else": {one, true},
	})
	draft2019 = draft7.next("2019-09", "https://json-schema.org/draft/2019-09/schema", since2019, map[string]applicator{
		"$defs":                 {byName, false},
		"dependentSchemas":      {byName, true},
		"unevaluatedItems":      {one, false},
		"unevaluatedProperties": {one, false},
	}, "dependencies")
	draft2020 = draft2019.next("2020-12", "https://json-schema.org/draft/2020-12/schema", since2020, map[string]applicator{
		"items":       {one, false},
		"prefixItems": {many, false},
	}, "additionalItems")

	drafts = []*draft{draft4, draft6, draft7, draft2019, draft2020}
)

// next returns a draft that adds or redefines some keywords of d, and drops others.
func (d *draft) next(name, uri string, since int, added map[string]applicator, dropped ...string) *draft {
	n := &draft{name: name, uri: uri, id: "$id", applicators: make(map[string]applicator), since: since}
	maps.Copy(n.applicators, d.applicators)
	maps.Copy(n.applicators, added)
	for _, keyword := range dropped {
		delete(n.applicators, keyword)
	}
	return n
}

// hidesSiblings reports whether the keywords next to a $ref are ignored.
func (d *draft) hidesSiblings() bool { return d.since < since2019 }

// hasBooleans reports whether true and false are schemas.
func (d *draft) hasBooleans() bool { return d.since >= since6 }

// Values of $schema that mean Draft 4 besides its own URI: the URI without a draft, which nearly all real DataSchemas
// have, and that of Draft 3, which the reference treats as Draft 4.
const (
	anyDraft = "http://json-schema.org/schema"
	draft3   = "http://json-schema.org/draft-03/schema"
)

// draftOf returns the draft that a value of $schema identifies, nil if it is unknown. The scheme may be http or https,
// and an empty fragment is ignored.
func draftOf(uri string) *draft {
	uri = bare(uri)
	if uri == bare(anyDraft) || uri == bare(draft3) {
		return draft4
	}
	for _, d := range drafts {
		if uri == bare(d.uri) {
			return d
		}
	}
	return nil
}

// bare returns a URI without its scheme and without an empty fragment.
func bare(uri string) string {
	uri = strings.TrimSuffix(uri, "#")
	if rest, ok := strings.CutPrefix(uri, "https://"); ok {
		return rest
	}
	return strings.TrimPrefix(uri, "http://")
}
