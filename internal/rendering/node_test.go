package rendering

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"purser/internal/document"
)

// The traits of a document agree with its metadata, which is not parsed if they determine the declaration.
func TestRun_metadata(t *testing.T) {
	t.Parallel()
	for line, plain := range map[string]bool{
		"site a":                              true,
		"- a | control":                       true,
		"site a | abstract":                   true,
		"site a | encrypted":                  true,
		"site a | replacement":                true,
		"site a | labels {z: one, a: two}":    true,
		"site a | labels {z: one, a: 2}":      false,
		"site a | labels [one]":               true, // which are none
		"site a | parent {x: y}":              false,
		"site a | parent {}":                  true,
		"site a | merge .":                    false,
		"site a | sub b .x > .y":              false,
		"site a | parent {x: y} | delete .":   false,
		"site a | labels {a: b} | data [one]": true,
	} {
		decoded := sketchOne(t, line)
		stored := &document.Document{
			Identity: decoded.Identity, Metadata: decoded.Metadata, Data: decoded.Data, Digest: decoded.Digest,
		}
		if traits, _ := decoded.Decoded(); traits.Plain != plain {
			t.Errorf("%s: plain is %v", line, traits.Plain)
		}
		all := cmp.Exporter(func(reflect.Type) bool { return true })
		if diff := cmp.Diff(metadataOf(t, stored), metadataOf(t, decoded), all, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: by metadata, by traits:\n%s", line, diff)
		}
	}
}

func metadataOf(t *testing.T, d *document.Document) *metadata {
	t.Helper()
	r := newRun(budgeted(t), []*document.Document{d}, Options{})
	if err := r.readAll([]*document.Document{d}); err != nil {
		t.Fatal(err)
	}
	return r.nodes[0].metadata
}
