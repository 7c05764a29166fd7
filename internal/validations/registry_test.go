package validations

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
)

func refersTo(names ...string) []byte {
	var b strings.Builder
	for i, name := range names {
		fmt.Fprintf(&b, `,"p%d":{"$ref":"%s#/a"}`, i, name)
	}
	return []byte(`{"properties":{"x":{}` + b.String() + `}}`)
}

// digested returns DataSchemas with texts by name.
func digested(texts map[string][]byte) map[string]DataSchema {
	schemas := map[string]DataSchema{}
	for name, text := range texts {
		schemas[name] = DataSchema{Digest: sha256.Sum256(text), Text: text}
	}
	return schemas
}

func registryOf(t *testing.T, engine *Engine, texts map[string][]byte) Registry {
	t.Helper()
	registry, err := engine.Registry(budget.NewMeter(t.Context()), digested(texts))
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// The rule of a DataSchema changes if one that it refers to changes, directly or indirectly, and with nothing else.
func TestRegistry_DataSchema(t *testing.T) {
	t.Parallel()
	texts := map[string][]byte{
		"a/A/v1": refersTo("a/B/v1"), "a/B/v1": refersTo("a/A/v1", "a/C/v1"), "a/C/v1": refersTo("a/None/v1"),
		"a/D/v1": refersTo("a/C/v1"), "a/Self/v1": refersTo("a/Self/v1"), "a/Alone/v1": refersTo(),
	}
	rules := func(texts map[string][]byte) map[string]Rule {
		engine, found := NewEngine(Options{}), map[string]Rule{}
		registry := registryOf(t, engine, texts)
		for name := range texts {
			rule, err := engine.RuleOf(budget.NewMeter(t.Context()), registry.DataSchema(document.Digest{1}, name), document.Digest{})
			if err != nil {
				t.Fatal(err)
			}
			found[name] = rule
		}
		return found
	}
	before := rules(texts)
	if alone := before["a/Alone/v1"]; !alone.Context.IsZero() {
		t.Errorf("a schema without references has the context %v", alone.Context)
	}
	for changed, want := range map[string][]string{
		"a/A/v1": {"a/A/v1", "a/B/v1"}, "a/B/v1": {"a/A/v1", "a/B/v1"}, "a/C/v1": {"a/A/v1", "a/B/v1", "a/D/v1"},
		"a/None/v1": {"a/A/v1", "a/B/v1", "a/C/v1", "a/D/v1"}, "a/D/v1": nil, "a/Self/v1": {"a/Self/v1"}, "a/Alone/v1": nil,
	} {
		other := maps.Clone(texts)
		if other[changed] = bytes.ReplaceAll(texts[changed], []byte("{}"), []byte("true")); texts[changed] == nil {
			other[changed] = refersTo()
		}
		after := rules(other)
		var got []string
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			if after[name] != before[name] {
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s changes the rules of (-want +got)\n%s", changed, diff)
		}
	}
}

// A word of a schema counts for all that refer to it.
func TestRegistry_DataSchema_contains(t *testing.T) {
	t.Parallel()
	registry := registryOf(t, NewEngine(Options{}), map[string][]byte{
		"a/A/v1": refersTo("a/B/v1"), "a/B/v1": refersTo("a/C/v1"), "a/C/v1": refersTo("a/B/v1", "a/D/v1"),
		"a/D/v1": []byte(`{"format":"date"}`), "a/E/v1": refersTo(),
	})
	for name, want := range map[string]bool{"a/A/v1": true, "a/C/v1": true, "a/D/v1": true, "a/E/v1": false} {
		if got := registry.DataSchema(document.Digest{}, name).contains(formatWord); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestRegistry_Referring(t *testing.T) {
	t.Parallel()
	registry := registryOf(t, NewEngine(Options{}), map[string][]byte{
		"a/A/v1": refersTo("a/B/v1"), "a/B/v1": refersTo("a/C/v1"), "a/C/v1": refersTo("a/A/v1"), "a/D/v1": refersTo("a/E/v1"),
	})
	for name, want := range map[string][]string{
		"a/C/v1": {"a/A/v1", "a/B/v1", "a/C/v1"}, "a/E/v1": {"a/D/v1", "a/E/v1"}, "a/D/v1": {"a/D/v1"},
	} {
		got := slices.Sorted(maps.Keys(registry.Referring([]string{name})))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Each is named with the first that it depends on.
func TestRegistry_Referring_first(t *testing.T) {
	t.Parallel()
	registry := registryOf(t, NewEngine(Options{}), map[string][]byte{
		"a/A/v1": refersTo("a/B/v1", "a/C/v1"), "a/B/v1": refersTo("a/D/v1"),
	})
	want := map[string]string{"a/A/v1": "a/D/v1", "a/B/v1": "a/D/v1", "a/D/v1": "a/D/v1", "a/C/v1": "a/C/v1"}
	if diff := cmp.Diff(want, registry.Referring([]string{"a/D/v1", "a/C/v1"})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
