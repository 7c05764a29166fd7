package changes

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/revisions"
	"purser/internal/revisions/revisionstest"
	"purser/internal/validations"
)

func TestBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 200) // 400 bytes
	findings := []validations.Finding{{Message: long, SchemaPath: ".type"}, {Message: "second"}}
	size := int64(validations.SizeOf(findings))
	for _, c := range []struct {
		name     string
		total    int64 // before
		findings []validations.Finding
		want     []validations.Finding
	}{
		{"within the bound", 0, findings, findings},
		{"to the bound", 16<<20 - size, findings, findings},
		{"beyond it", 16<<20 - size + 1, findings, []validations.Finding{{
			Message:    strings.Repeat("é", 128) + "…",
			SchemaPath: ".type",
		}}},
		{"a short one beyond it", 16 << 20, findings[1:], findings[1:]},
		{"none", 17 << 20, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var total atomic.Int64
			total.Store(c.total)
			if diff := cmp.Diff(c.want, bounded(c.findings, &total)); diff != "" {
				t.Errorf("findings (-want +got)\n%s", diff)
			}
			if len(findings[0].Message) != 400 {
				t.Error("the findings were modified")
			}
		})
	}
}

// Of several DataSchemas with the same name, the first in order of place is in force.
func TestSchemasInForce(t *testing.T) {
	t.Parallel()
	schema := func(name, data string, place int64) *revisions.Stored {
		doc := revisionstest.Version("a", name, place, place)
		doc.Schema, doc.Data = validations.DataSchemaKind, []byte(data)
		return doc
	}
	first, second := schema("acme/Widget/v1", `{"a":1}`, 1), schema("acme/Widget/v1", `{"a":2}`, 2)
	other := schema("acme/Other/v1", `{"a":3}`, 3)
	documents := []*revisions.Stored{
		other, second, schema("acme/Empty/v1", "{}", 4), first, schema("unnamed", `{"a":1}`, 5),
		schema("deckhand/LayeringPolicy/v1", `{"a":1}`, 6), revisionstest.Version("a", "acme/Widget/v1", 0, 0),
	}
	got := SchemasInForce(documents)
	if len(got) != 2 || got[0] != first || got[1] != other || documents[0] != other {
		t.Errorf("%d are in force, want the first two", len(got))
	}
}
