package jsonschema

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
)

const stepsOfForbids = 1000

// forbids is an extension with one keyword, which lists the members that an object may not have.
type forbids struct{}

func (forbids) Keywords() []string { return []string{"forbids"} }

func (forbids) Compile(schema document.Mapping) (Keyword, error) {
	list, ok := schema.Lookup("forbids")
	if !ok {
		return nil, nil //nolint:nilnil // as the interface says
	}
	var names forbidden
	for _, name := range list.([]any) {
		names = append(names, name.(string))
	}
	return names, nil
}

func (forbids) Examine(schema any) (findings []Finding) {
	root, _ := schema.(document.Mapping)
	if definitions, _ := root.At("definitions").(document.Mapping); definitions != nil {
		for _, d := range definitions {
			member, _ := d.Value.(document.Mapping)
			if list, ok := member.Lookup("forbids"); ok {
				if _, isList := list.([]any); !isList {
					findings = append(findings, Finding{
						Message: "no list", Instance: []string{"definitions", d.Key, "forbids"}, SchemaPath: ".forbids",
					})
				}
			}
		}
	}
	return findings
}

type forbidden []string

func (f forbidden) Check(meter *budget.Meter, object document.Mapping, versions map[string]string) (
	violations []Violation, err error,
) {
	for _, name := range f {
		if err := meter.Spend(stepsOfForbids); err != nil {
			return nil, err
		}
		if _, there := object.Lookup(name); there {
			violations = append(violations, Violation{[]string{name}, []string{"forbids", name}, name + " is forbidden by " + versions["law"], 0})
		}
	}
	return violations, nil
}

func (forbidden) NamesVersions() bool { return true }

func TestCompile_extensions(t *testing.T) {
	t.Parallel()
	const schema = `{
		"forbids": ["x", "y"],
		"properties": {
			"list": {"items": {"forbids": ["z"], "type": "object"}},
			"either": {"anyOf": [{"forbids": ["a"]}, {"type": "string"}]},
			"forbids": {"type": "integer"},
			"by": {"$ref": "#/definitions/b", "forbids": ["b"]}
		},
		"definitions": {"b": {"forbids": ["c"]}}
	}`
	s, err := Compile(unmetered(), []byte(schema), Options{Extensions: []Extension{forbids{}}})
	if err != nil {
		t.Fatal(err)
	}
	another := s.For(map[string]string{"law": "2"})
	s = s.For(map[string]string{"law": "1"})
	if got := lines(check(t, another, []byte(`{"x": 1}`))); !slices.Equal(got, []string{"x | .forbids.x | x is forbidden by 2"}) {
		t.Errorf("with other versions: %q", got)
	}
	if !s.NamesVersions() {
		t.Error("it names versions, but does not say so")
	}
	got := check(t, s, []byte(`{"y": 1, "x": 1, "list": [{}, {"z": 1}, 5, {"z": {}}], "either": {"a": 1}, "forbids": 2, "by": {"b": 1, "c": 1}}`))
	want := []string{
		"x | .forbids.x | x is forbidden by 1",
		"y | .forbids.y | y is forbidden by 1",
		"by/c | .properties.by.$ref.forbids.c | c is forbidden by 1",
		"either | .properties.either.anyOf | {'a': 1} is not valid under any of the given schemas",
		"list/1/z | .properties.list.items.forbids.z | z is forbidden by 1",
		"list/2 | .properties.list.items.type | 5 is not of type 'object'",
		"list/3/z | .properties.list.items.forbids.z | z is forbidden by 1",
	}
	if diff := cmp.Diff(want, lines(got)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	for _, finding := range got {
		if finding.Names != (finding.Instance[len(finding.Instance)-1] != "either" && finding.Message != "5 is not of type 'object'") {
			t.Errorf("whether it shows names alone: %v of %s", finding.Names, finding.Message)
		}
	}
	if _, err := Compile(unmetered(), []byte(schema), Options{}); err != nil {
		t.Errorf("without the extension: %v", err)
	}
}

func TestCompile_extensionsExamine(t *testing.T) {
	t.Parallel()
	_, err := Compile(unmetered(), []byte(`{"definitions": {"unreferenced": {"forbids": 5}}}`), Options{Extensions: []Extension{forbids{}}})
	unusable, ok := errors.AsType[*Unusable](err)
	if !ok {
		t.Fatalf("compile gives %v, want an *Unusable", err)
	}
	want := []string{"definitions/unreferenced/forbids | .forbids | no list"}
	if diff := cmp.Diff(want, lines(unusable.Findings)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
