package validations

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

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

func TestRegistry_DataSchema(t *testing.T) {
	t.Parallel()
	registry := NewRegistry(map[string][]byte{
		"a/A/v1": refersTo("a/B/v1"), "a/B/v1": refersTo("a/A/v1", "a/None/v1"), "a/C/v1": refersTo(),
	})
	s, err := registry.DataSchema(budget.NewMeter(t.Context()), document.Digest{1}, "a/A/v1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/A/v1", "a/B/v1", "a/None/v1"}, slices.Sorted(maps.Keys(s.texts()))); diff != "" {
		t.Errorf("others (-want +got)\n%s", diff)
	}
	alone, err := registry.DataSchema(budget.NewMeter(t.Context()), document.Digest{1}, "a/C/v1")
	if err != nil || alone.Others != nil || alone.with(document.Digest{1}) != (document.Digest{1}) {
		t.Errorf("without references: %v, %v", alone.Others, err)
	}
}

// A chain of large schemas, each of which refers to all later ones, ends with the budget.
func TestRegistry_DataSchema_bound(t *testing.T) {
	t.Parallel()
	const length, size = 1000, 100_000
	texts := make(map[string][]byte, length)
	padding := `,"description":"` + strings.Repeat("x", size) + `"}`
	for i := range length {
		text := refersTo(fmt.Sprintf("a/A/v%d", i+1))
		texts[fmt.Sprintf("a/A/v%d", i)] = append(text[:len(text)-1], padding...)
	}
	registry := NewRegistry(texts)
	ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
	defer end()
	meter := budget.NewMeter(ctx)
	for range length {
		_, err := registry.DataSchema(meter, document.Digest{}, "a/A/v0")
		if _, exceeded := errors.AsType[*budget.Exceeded](err); exceeded {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("the budget was not exceeded")
}

// The text of a schema is searched for references once, and not again for each schema that refers to it.
//
//nolint:paralleltest // AllocsPerRun counts allocations of other tests, too
func TestRegistry_DataSchema_chain(t *testing.T) {
	const length = 500
	texts := make(map[string][]byte, length)
	for i := range length {
		texts[fmt.Sprintf("a/A/v%d", i)] = refersTo(fmt.Sprintf("a/A/v%d", i+1))
	}
	registry, meter := NewRegistry(texts), budget.NewMeter(t.Context())
	allocations := testing.AllocsPerRun(1, func() {
		s, err := registry.DataSchema(meter, document.Digest{}, "a/A/v0")
		if err != nil || len(s.Others) != length {
			t.Fatalf("%d others, %v", len(s.Others), err)
		}
	})
	if allocations > length {
		t.Errorf("%v allocations for a chain of %d", allocations, length)
	}
}

// What a schema refers to is found at the cost of that, however many other schemas there are.
//
//nolint:paralleltest // it counts the memory that the whole process allocates
func TestRegistry_DataSchema_ofMany(t *testing.T) {
	const schemas, most = 20_000, 4096
	texts := make(map[string][]byte, schemas)
	for i := range schemas {
		texts[fmt.Sprintf("a/A/v%d", i)] = refersTo(fmt.Sprintf("a/A/v%d", i^1))
	}
	registry, meter := NewRegistry(texts), budget.NewMeter(t.Context())
	allocated := uint64(math.MaxUint64)
	for range 5 { // the least, because the runtime may allocate something beside it
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := registry.DataSchema(meter, document.Digest{}, "a/A/v0")
		runtime.ReadMemStats(&after)
		if err != nil || len(s.Others) != 2 {
			t.Fatalf("%d others, %v", len(s.Others), err)
		}
		allocated = min(allocated, after.TotalAlloc-before.TotalAlloc)
	}
	if allocated > most {
		t.Errorf("%d bytes are allocated for 2 others, want at most %d", allocated, most)
	}
}

func TestRegistry_Dependents(t *testing.T) {
	t.Parallel()
	registry := NewRegistry(map[string][]byte{
		"a/A/v1": refersTo("a/B/v1"), "a/B/v1": refersTo("a/C/v1"), "a/C/v1": refersTo("a/A/v1"), "a/D/v1": refersTo("a/E/v1"),
	})
	for name, want := range map[string][]string{
		"a/C/v1": {"a/A/v1", "a/B/v1", "a/C/v1"}, "a/E/v1": {"a/D/v1", "a/E/v1"}, "a/D/v1": {"a/D/v1"},
	} {
		got := slices.Sorted(maps.Keys(registry.Dependents(map[string]bool{name: true})))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
