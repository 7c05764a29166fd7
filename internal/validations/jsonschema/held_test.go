package jsonschema

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
)

// gate is an extension whose keyword blocks until it is released.
type gate struct{ entered, leave chan struct{} }

func (gate) Keywords() []string    { return []string{"gate"} }
func (gate) Examine(any) []Finding { return nil }
func (gate) NamesVersions() bool   { return false }

func (g gate) Compile(schema document.Mapping) (Keyword, error) {
	if _, ok := schema.Lookup("gate"); !ok {
		return nil, nil
	}
	return g, nil
}

func (g gate) Check(_ *budget.Meter, object document.Mapping, _ map[string]string) ([]Violation, error) {
	if object.At("wait") != nil {
		g.entered <- struct{}{}
		<-g.leave
	}
	return nil, nil
}

// A blocked check, waiting for its budget for example, does not block others, and checks share neither findings nor
// costs.
func TestSchema_Check_heldUp(t *testing.T) {
	t.Parallel()
	g := gate{make(chan struct{}), make(chan struct{})}
	s, err := Compile(unmetered(), []byte(`{"gate": 1, "oneOf": [{"type": "object"}, {"$ref": "#/nowhere"}]}`), Options{Extensions: []Extension{g}})
	if err != nil {
		t.Fatal(err)
	}
	want := check(t, s, []byte(`{}`))
	const held = 5
	var all sync.WaitGroup
	for range held {
		all.Go(func() {
			if diff := cmp.Diff(want, check(t, s, []byte(`{"wait": 1}`))); diff != "" {
				t.Errorf("a check that was held up (-want +got)\n%s", diff)
			}
		})
		<-g.entered
		if diff := cmp.Diff(want, check(t, s, []byte(`{}`))); diff != "" {
			t.Errorf("a check beside one that is held up (-want +got)\n%s", diff)
		}
	}
	for range held {
		g.leave <- struct{}{}
	}
	all.Wait()
}
