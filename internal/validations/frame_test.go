package validations

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"purser/internal/budget"
	"purser/internal/document"
)

// wantSatisfied fails a test if a document that has a plain frame violates a schema.
func wantSatisfied(t rapid.TB, root document.Mapping) (plain bool) {
	t.Helper()
	if !hasPlainFrame(root) {
		return false
	}
	meter := budget.NewMeter(context.Background())
	violations, err := checkBase(meter, root)
	if err == nil && len(violations) == 0 {
		violations, err = checkMetadata(meter, root)
		ofTexts, _ := checkTexts(meter, root)
		violations = violations[:len(violations)-len(ofTexts)] // these come last, and are checked in any case
	}
	if err != nil || len(violations) > 0 {
		t.Fatalf("%s has a plain frame, but it violates a schema: %v, %v", document.AppendJSON(nil, root), violations, err)
	}
	return true
}

// FuzzSanity_plain decodes documents of any form.
func FuzzSanity_plain(f *testing.F) {
	f.Add(framed(""))
	f.Add(framed(", substitutions: [{src: {schema: a/B/v1, name: n, path: ., pattern: x}, dest: [{path: '.a'}, {path: .b}]}]"))
	f.Add(framed(", labels: {a: b}, replacement: true, substitutions: [{src: {schema: a/B/v1, name: n, path: .}, dest: {path: '.a'}}]"))
	f.Add(strings.Replace(framed(""), "layer: site", "layer: site, abstract: true, parentSelector: {a: b}, actions: [{method: merge, path: .}]", 1))
	f.Add(strings.Replace(framed(""), "layer: site", "layer: site, parentSelector: {}", 1))
	f.Add(strings.Replace(framed(""), "acme/Widget/v1", "a/B/v", 1))
	f.Add(strings.Replace(framed(""), "acme/Widget/v1", `"a/B/v1\n"`, 1))
	f.Add("schema: a/B/v1\nmetadata: {schema: metadata/Control/v1, name: n, labels: {a: b}, other: [1]}\n")
	limits := document.DefaultLimits()
	limits.Depth = 200 // more than the schemas accept
	f.Fuzz(func(t *testing.T, body string) {
		segments, err := document.Split(t.Context(), []byte(body), document.YAML, limits)
		if err != nil {
			return
		}
		for _, segment := range segments {
			if e, err := document.Decode(t.Context(), segment, limits); err == nil && e.IsDocument() {
				wantSatisfied(t, e.Value.(document.Mapping))
			}
		}
	})
}

// frames draws documents; a fraction of their values is invalid.
type frames struct {
	*rapid.T

	odds int
}

// rarely reports whether to draw something unusual.
func (f frames) rarely() bool { return rapid.IntRange(1, f.odds).Draw(f.T, "rarely") == f.odds/2+1 }

// odd draws a value that is invalid most of the time.
func (f frames) odd() any {
	return rapid.SampledFrom([]any{
		nil, true, "", "x", "a/B/v1", "merge", "metadata/Document/v2", "metadata/Control/v1\n", "a/B/v1\n", "é/B/v1",
		"a/B/vx", "a/B/v", "a/B/", "/B/v1", "a//v1", "a/B", "a/B/v1/v1",
		document.Number("1"), document.Number("1.0"),
		[]any{},
		[]any{"x"},
		[]any{document.Mapping{}},
		document.Mapping{},
		document.Mapping{{Key: "x", Value: document.Number("1")}},
		document.Mapping{{Key: "layer", Value: "x"}},
		nested(),
	}).Draw(f.T, "odd")
}

// nested returns a value that is nested too deeply to be checked.
func nested() any {
	var value any = "x"
	for range 120 {
		value = document.Mapping{{Key: "a", Value: value}}
	}
	return value
}

func (f frames) or(value any) any {
	if f.rarely() {
		return f.odd()
	}
	return value
}

// mapping draws a mapping of all needed members and of some others, in any order; rarely one is missing or unknown.
func (f frames) mapping(needed, others document.Mapping) any {
	var m document.Mapping
	for _, member := range needed {
		if !f.rarely() {
			m = append(m, member)
		}
	}
	for _, member := range others {
		if rapid.Bool().Draw(f.T, "has "+member.Key) {
			m = append(m, member)
		}
	}
	if f.rarely() {
		m = append(m, document.Member{Key: "unknown", Value: f.odd()})
	}
	for i := range m {
		m[i].Value = f.or(m[i].Value)
	}
	return rapid.Permutation(m).Draw(f.T, "order")
}

func (f frames) list(fewest int, item func() any) any {
	list := []any{}
	if f.rarely() {
		return list
	}
	for range rapid.IntRange(fewest, 3).Draw(f.T, "items") {
		list = append(list, f.or(item()))
	}
	return f.or(list)
}

func (f frames) text() any { return rapid.SampledFrom([]any{"x", "", ".a.b", "é"}).Draw(f.T, "text") }

func (f frames) kind() any {
	return rapid.SampledFrom([]any{"acme/Widget/v1", "a/B/v12", "Z/z/v0"}).Draw(f.T, "kind")
}

func (f frames) labels() any {
	return f.mapping(document.Mapping{{Key: "a", Value: "b"}}, document.Mapping{{Key: "c", Value: ""}})
}

func (f frames) destination() any {
	return f.mapping(document.Mapping{{Key: "path", Value: f.text()}}, document.Mapping{{Key: "pattern", Value: "x+"}})
}

func (f frames) substitution() any {
	dest := f.destination()
	if rapid.Bool().Draw(f.T, "several") {
		dest = f.list(1, f.destination)
	}
	source := f.mapping(document.Mapping{{Key: "schema", Value: f.kind()}, {Key: "name", Value: f.text()}, {Key: "path", Value: "."}},
		document.Mapping{{Key: "pattern", Value: "x+"}})
	return f.mapping(document.Mapping{{Key: "src", Value: source}, {Key: "dest", Value: dest}}, nil)
}

func (f frames) action() any {
	return f.mapping(document.Mapping{
		{Key: "method", Value: rapid.SampledFrom([]any{"merge", "replace", "delete"}).Draw(f.T, "method")},
		{Key: "path", Value: f.text()},
	}, nil)
}

func (f frames) layering() any {
	needed := document.Mapping{{Key: "layer", Value: f.text()}}
	if rapid.Bool().Draw(f.T, "parented") {
		needed = append(needed, document.Member{Key: "parentSelector", Value: f.labels()},
			document.Member{Key: "actions", Value: f.list(1, f.action)})
	}
	return f.mapping(needed, document.Mapping{{Key: "abstract", Value: true}})
}

func (f frames) metadata() any {
	if rapid.IntRange(0, 4).Draw(f.T, "control") == 0 {
		return f.mapping(document.Mapping{{Key: "schema", Value: "metadata/Control/v1"}, {Key: "name", Value: f.text()}},
			document.Mapping{{Key: "labels", Value: f.labels()}, {Key: "layeringDefinition", Value: f.layering()}})
	}
	return f.mapping(document.Mapping{
		{Key: "schema", Value: "metadata/Document/v1"},
		{Key: "name", Value: f.text()},
		{Key: "storagePolicy", Value: rapid.SampledFrom([]any{"cleartext", "encrypted"}).Draw(f.T, "policy")},
		{Key: "layeringDefinition", Value: f.layering()},
	}, document.Mapping{
		{Key: "labels", Value: f.labels()},
		{Key: "replacement", Value: false},
		{Key: "substitutions", Value: f.list(0, f.substitution)},
	})
}

// The code accepts only documents that the schemas accept, and accepts nearly all valid ones.
func TestSanity_plain(t *testing.T) {
	t.Parallel()
	drawn, plain, satisfied := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		f := frames{t, rapid.SampledFrom([]int{200, 200, 12, 200}).Draw(t, "odds")}
		root, _ := f.mapping(document.Mapping{{Key: "schema", Value: f.kind()}, {Key: "metadata", Value: f.metadata()}},
			document.Mapping{{Key: "data", Value: "x"}}).(document.Mapping)
		drawn++
		if wantSatisfied(t, root) {
			plain++
		}
		if violations, err := checkBase(budget.NewMeter(t.Context()), root); err != nil || len(violations) > 0 {
			return
		}
		if violations, err := checkMetadata(budget.NewMeter(t.Context()), root); err == nil && len(violations) == 0 {
			satisfied++
		}
	})
	if plain < drawn/3 || plain < satisfied*3/4 {
		t.Errorf("of %d documents, %d are all right, but only %d are taken", drawn, satisfied, plain)
	}
}
