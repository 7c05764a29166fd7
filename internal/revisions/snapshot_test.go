package revisions

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
)

func TestNeed_with(t *testing.T) {
	t.Parallel()
	zero, two := int64(0), int64(2)
	digest := document.DigestOf("content")
	for _, c := range []struct {
		name       string
		need, more Need
		want       Need
		grown      bool
	}{
		{"nothing", Need{}, Need{}, Need{}, false},
		{
			"what it has",
			Need{Buckets: []string{"a", "b"}, Evidence: true},
			Need{Buckets: []string{"b"}, Evidence: true},
			Need{Buckets: []string{"a", "b"}, Evidence: true},
			false,
		},
		{"less", Need{Schemas: true, Documents: true}, Need{}, Need{Schemas: true, Documents: true}, false},
		{
			"buckets in their order",
			Need{Buckets: []string{"b"}},
			Need{Buckets: []string{"c", "b", "a", "c"}},
			Need{Buckets: []string{"b", "c", "a"}},
			true,
		},
		{"a target", Need{}, Need{Target: &zero}, Need{Target: &zero}, true},
		{"another target", Need{Target: &two}, Need{Target: &zero}, Need{Target: &two}, false},
		{
			"contents",
			Need{},
			Need{Contents: []document.Digest{digest, digest}},
			Need{Contents: []document.Digest{digest}},
			true,
		},
		{
			"identities",
			Need{},
			Need{Identities: []document.Identity{{Name: "n"}}},
			Need{Identities: []document.Identity{{Name: "n"}}},
			true,
		},
		{"kinds", Need{Kinds: []string{"k"}}, Need{Kinds: []string{"l"}}, Need{Kinds: []string{"k", "l"}}, true},
		{
			"governed",
			Need{Kinds: []string{"k"}},
			Need{Governed: []string{"k"}},
			Need{Kinds: []string{"k"}, Governed: []string{"k"}},
			true,
		},
		{"checks", Need{}, Need{Checks: []Pair{{Content: digest}}}, Need{Checks: []Pair{{Content: digest}}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, grown := c.need.With(c.more)
			if diff := cmp.Diff(c.want, got); diff != "" || grown != c.grown {
				t.Errorf("grown %v, want %v; union (-want +got)\n%s", grown, c.grown, diff)
			}
			if _, grown := got.With(c.more); grown {
				t.Error("the union grows again")
			}
		})
	}
}

// With unites every field of a need, and reports when the union has grown.
func TestNeed_with_everyField(t *testing.T) {
	t.Parallel()
	for i := range reflect.TypeFor[Need]().NumField() {
		var more Need
		field := reflect.ValueOf(&more).Elem().Field(i)
		switch field.Kind() {
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		default:
			t.Fatalf("a field of kind %v", field.Kind())
		}
		if got, grown := (Need{}).With(more); !grown || !cmp.Equal(got, more) {
			t.Errorf("%s: union %+v, grown %v", reflect.TypeFor[Need]().Field(i).Name, got, grown)
		}
	}
}

// A union shares no slice with the needs it was made from.
func TestNeed_with_shared(t *testing.T) {
	t.Parallel()
	list := make([]string, 1, 8)
	list[0] = "a"
	first, _ := Need{Buckets: list}.With(Need{Buckets: []string{"b"}})
	second, _ := Need{Buckets: list}.With(Need{Buckets: []string{"c"}})
	if first.Buckets[1] != "b" || second.Buckets[1] != "c" {
		t.Errorf("buckets %v and %v", first.Buckets, second.Buckets)
	}
}

func TestSnapshot_texts(t *testing.T) {
	t.Parallel()
	of := func(bucket, name string) *Stored {
		doc := version(bucket, name, 1, 1)
		doc.Segment = document.DigestOf(bucket + name)
		return doc
	}
	a, b, unknown := of("a", "w"), of("b", "w"), version("a", "x", 2, 2)
	single := Snapshot{Buckets: []Bucket{NewBucket("a", 1, 1, []*Stored{a, unknown})}}
	both := Snapshot{Buckets: append(single.Buckets, NewBucket("b", 1, 1, []*Stored{b}))}
	for _, c := range []struct {
		name     string
		snapshot Snapshot
		text     document.Digest
		want     *Stored
	}{
		{"known", single, a.Segment, a},
		{"of another bucket", single, b.Segment, nil},
		{"of the second bucket", both, b.Segment, b},
		{"zero", single, document.Digest{}, nil},
		{"without buckets", Snapshot{}, a.Segment, nil},
	} {
		if got := c.snapshot.Texts()(c.text); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
