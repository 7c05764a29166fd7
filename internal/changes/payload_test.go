package changes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
)

func TestPayload_need(t *testing.T) {
	t.Parallel()
	s, _ := service()
	p := payload(t, s, "a", widget("w1", "{x: 1}")+widget("w2", "{x: 1}"), "a")
	digest := p.Items[0].Document.Digest
	want := revisions.Need{
		Buckets: []string{"a"}, Identities: []document.Identity{p.Items[0].Document.Identity, p.Items[1].Document.Identity},
		Contents: []document.Digest{digest, digest}, Kinds: []string{"acme/Widget/v1", "acme/Widget/v1"}, Evidence: true,
	}
	if diff := cmp.Diff(want, p.need()); diff != "" {
		t.Errorf("need (-want +got)\n%s", diff)
	}
}

// For a change set one document is decoded to find the bucket, then only documents that are not in it.
func TestService_decodeCached_changeSet(t *testing.T) {
	t.Parallel()
	s, m := service()
	var first, second strings.Builder
	const many = 40
	for i := range many {
		first.WriteString(inBucket("a", widget(fmt.Sprintf("p%d", i), "{x: 1}")))
		second.WriteString(inBucket("b", widget(fmt.Sprintf("q%d", i), "{x: 1}")))
	}
	body := first.String() + second.String()
	if _, err := s.PutChangeSet(t.Context(), nil, []byte(body), document.YAML, revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	p := payload(t, s, "", body)
	if decoded := len(p.Items) - p.undecoded(); decoded != 2 {
		t.Errorf("%d documents were decoded, want one of each bucket", decoded)
	}
	if diff := cmp.Diff([]string{"a", "b"}, p.Buckets); diff != "" {
		t.Errorf("buckets (-want +got)\n%s", diff)
	}
	written, err := s.PutChangeSet(t.Context(), nil, []byte(body), document.YAML, revisions.Options{})
	if err != nil || written.Changed || len(m.commits) != 1 {
		t.Errorf("written again: %+v, %v", written.Changed, err)
	}
}

// A text known from a PUT is not reused for a change set, where it may be for another bucket.
func TestService_decodeCached_otherBucket(t *testing.T) {
	t.Parallel()
	s, _ := service()
	body := inBucket("b", widget("w1", "{x: 1}"))
	put(t, s, "a", body)
	if p := payload(t, s, "", body, "a"); p.undecoded() != 0 {
		t.Error("the text is known")
	}
}

func TestPayload_with_buckets(t *testing.T) {
	t.Parallel()
	for n, kind := range map[int]fault.Kind{maxBuckets: fault.Internal, maxBuckets + 1: fault.TooLarge} {
		p := Payload{Items: make([]Item, n)}
		positions, decoded := make([]int, n), make([]Item, n)
		for i := range n {
			positions[i], decoded[i] = i, Item{Bucket: fmt.Sprintf("b%d", i)}
		}
		got, err := p.with(positions, decoded)
		if (err == nil) != (kind == fault.Internal) || err != nil && fault.KindOf(err) != kind {
			t.Errorf("%d buckets: %v", n, err)
		}
		if p.Items[0].Bucket != "" || err == nil && len(got.Buckets) != n {
			t.Errorf("%d buckets of %d; the payload has %v", len(got.Buckets), n, p.Items[0])
		}
	}
}

func TestPayload_unknown(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "a", widget("w1", "{}"))
	p, err := s.parse(t.Context(), []byte(widget("w1", "{}")+widget("w2", "{}")+widget("w3", "{}")+widget("w4", "{}")),
		document.YAML, "a", []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := revisions.Snapshot{Buckets: []revisions.Bucket{m.bucket("a")}}
	p.Items[2].Document = m.live[0].Document
	for most, want := range map[int][]int{0: nil, 1: {1}, 2: {1, 3}, 9: {1, 3}} {
		if diff := cmp.Diff(want, p.unknown(snapshot, most)); diff != "" {
			t.Errorf("at most %d (-want +got)\n%s", most, diff)
		}
	}
}
