// Package draft describes the versions of JSON Schema: which keywords they have, and which of those contain schemas.
//
// A draft is one of the values V4 to V2020. Each has the keywords of the one before it, unless it says otherwise. They
// never change.
package draft

import (
	"maps"
	"strings"
)

// Draft is a version of JSON Schema, with its keywords and their meaning.
type Draft struct {
	URI string // of its metaschema, without a fragment
	ID  string // the keyword that sets the URI of a schema

	Applicators map[string]Applicator

	since int // its position among the drafts
}

// Applicator describes how a keyword applies schemas.
type Applicator struct {
	Shape   Shape
	InPlace bool // to the same value as the schema itself
}

// Shape describes how a keyword contains schemas.
type Shape uint8

// The shapes, as bits.
const (
	One        Shape = 1 << iota // one schema
	Many                         // an array of schemas
	ByName                       // an object of schemas; arrays in dependencies are not schemas
	NoBooleans                   // booleans are not schemas: false forbids unnamed members, or is ignored
)

// The drafts that differ in ways that matter here.
//
//nolint:gochecknoglobals // they never change
var (
	V4 = &Draft{URI: "http://json-schema.org/draft-04/schema", ID: "id", Applicators: map[string]Applicator{
		"additionalItems":      {One | NoBooleans, false},
		"additionalProperties": {One | NoBooleans, false},
		"allOf":                {Many, true},
		"anyOf":                {Many, true},
		"definitions":          {ByName, false},
		"dependencies":         {ByName, true},
		"items":                {One | Many, false},
		"not":                  {One, true},
		"oneOf":                {Many, true},
		"patternProperties":    {ByName, false},
		"properties":           {ByName, false},
	}}
	V6 = V4.next("http://json-schema.org/draft-06/schema", map[string]Applicator{
		"contains":      {One, false},
		"propertyNames": {One, false},
	})
	V7 = V6.next("http://json-schema.org/draft-07/schema", map[string]Applicator{
		"if":   {One, true},
		"then": {One, true},
		"else": {One, true},
	})
	V2019 = V7.next("https://json-schema.org/draft/2019-09/schema", map[string]Applicator{
		"$defs":                 {ByName, false},
		"dependentSchemas":      {ByName, true},
		"unevaluatedItems":      {One, false},
		"unevaluatedProperties": {One, false},
	}, "dependencies")
	V2020 = V2019.next("https://json-schema.org/draft/2020-12/schema", map[string]Applicator{
		"items":       {One, false},
		"prefixItems": {Many, false},
	}, "additionalItems")

	All = []*Draft{V4, V6, V7, V2019, V2020} // in order
)

// next returns the draft after d, which adds or redefines some keywords and drops others.
func (d *Draft) next(uri string, added map[string]Applicator, dropped ...string) *Draft {
	n := &Draft{URI: uri, ID: "$id", Applicators: maps.Clone(d.Applicators), since: d.since + 1}
	maps.Copy(n.Applicators, added)
	for _, keyword := range dropped {
		delete(n.Applicators, keyword)
	}
	return n
}

// AtLeast reports whether d is another draft or a later one.
func (d *Draft) AtLeast(other *Draft) bool { return d.since >= other.since }

// HidesSiblings reports whether the keywords next to a $ref are ignored.
func (d *Draft) HidesSiblings() bool { return !d.AtLeast(V2019) }

// HasBooleans reports whether true and false are schemas.
func (d *Draft) HasBooleans() bool { return d.AtLeast(V6) }

// Reads reports whether a keyword belongs to the draft, or to none at all.
func (d *Draft) Reads(keyword string) bool {
	switch keyword {
	case "const":
		return d.AtLeast(V6)
	case "dependentRequired", "minContains", "maxContains":
		return d.AtLeast(V2019)
	case "$recursiveRef":
		return d == V2019
	case "$dynamicRef":
		return d == V2020
	}
	_, isRead := d.Applicators[keyword]
	for _, other := range All {
		if _, ok := other.Applicators[keyword]; ok {
			return isRead
		}
	}
	return true
}

// Values of $schema that mean Draft 4 besides its own URI: the URI without a draft, which nearly all real DataSchemas
// have, and that of Draft 3, which the reference treats as Draft 4.
const (
	anyDraft = "http://json-schema.org/schema"
	draft3   = "http://json-schema.org/draft-03/schema"
)

// Of returns the draft that a value of $schema identifies, nil if it is unknown. The scheme may be http or https,
// and an empty fragment is ignored.
func Of(uri string) *Draft {
	uri = Bare(uri)
	if uri == Bare(anyDraft) || uri == Bare(draft3) {
		return V4
	}
	for _, d := range All {
		if uri == Bare(d.URI) {
			return d
		}
	}
	return nil
}

// Bare returns a URI without its scheme and without an empty fragment.
func Bare(uri string) string {
	uri = strings.TrimSuffix(uri, "#")
	if rest, ok := strings.CutPrefix(uri, "https://"); ok {
		return rest
	}
	return strings.TrimPrefix(uri, "http://")
}
