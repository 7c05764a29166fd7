package schemadocs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
)

// What a schema says about a path is what the schemas say that apply to the value there.
func TestAt(t *testing.T) {
	t.Parallel()
	const text = `
title: A host
properties:
  rack: {type: integer, description: Number of the rack}
  role: {enum: [control, compute]}
  never: false
  interfaces: {items: {$ref: '#/definitions/interface'}}
  pair: {items: [{description: first}, {description: second}], additionalItems: {description: more}}
  either: {anyOf: [{type: string, description: a name}, {type: object, properties: {id: {description: its id}}}]}
  loop: {$ref: '#/definitions/loop'}
  other: {$ref: 'acme/Other/v1#'}
patternProperties:
  ^x-: {description: an extension}
  '(': {description: broken}
additionalProperties: {description: anything else}
required: [rack]
definitions:
  interface: {allOf: [{description: an interface}, {properties: {mtu: {title: MTU}}, required: [mtu]}]}
  loop: {properties: {more: {$ref: '#/definitions/loop'}}, allOf: [{$ref: '#/definitions/loop'}], description: again}
`
	schema, err := document.ParseOne(t.Context(), []byte(text), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"": "texts [A host] types [] values [] members [rack! Number of the rack; role ; interfaces ; pair ; either ; " +
			"loop ; other ]",
		"rack":             "texts [Number of the rack] types [integer] values [] members []",
		"role":             "texts [] types [string] values [control compute] members []",
		"interfaces":       "texts [] types [] values [] members []",
		"interfaces 7":     "texts [an interface] types [] values [] members [mtu! MTU]",
		"interfaces 7 mtu": "texts [MTU] types [] values [] members []",
		"pair 1":           "texts [second] types [] values [] members []",
		"pair 2":           "texts [more] types [] values [] members []",
		"either":           "texts [a name] types [string object] values [] members [id its id]",
		"either id":        "texts [its id] types [] values [] members []",
		"loop more":        "texts [again] types [] values [] members [more ]",
		"x-y":              "texts [an extension] types [] values [] members []",
		"y":                "texts [anything else] types [] values [] members []",
		"other a":          "texts [] types [] values [] members []",
		"never a":          "texts [] types [] values [] members []",
	} {
		about, err := At(t.Context(), Page{Name: "acme/Host/v1", Schema: schema.(document.Mapping)}, strings.Fields(path))
		if err != nil {
			t.Fatal(err)
		}
		var members []string
		for _, m := range about.Members {
			members = append(members, m.Name+map[bool]string{true: "!"}[m.IsRequired]+" "+m.Text)
		}
		got := fmt.Sprintf("texts %v types %v values %v members [%s]", about.Texts, about.Types, about.Values,
			strings.Join(members, "; "))
		if got != want {
			t.Errorf("%q: %s", path, cmp.Diff(want, got))
		}
	}
}
