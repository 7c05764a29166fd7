package changes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"purser/internal/document"
	"purser/internal/revisions"
)

// body draws the documents of a bucket.
func body(t *rapid.T, bucket string) string {
	var text strings.Builder
	names := rapid.Permutation([]string{"p", "q", "r", "s"}).Draw(t, "order of "+bucket)
	for _, name := range names[:rapid.IntRange(0, len(names)).Draw(t, "documents of "+bucket)] {
		data := fmt.Sprintf("{x: %d}", rapid.IntRange(0, 2).Draw(t, "x"))
		metadata := "labels: {k: " + rapid.SampledFrom([]string{"u", "v"}).Draw(t, "label") + "}"
		text.WriteString(widget(bucket+name, data, metadata))
	}
	return text.String()
}

// bodies draws successive bodies of bucket a, one per revision.
func bodies(t *rapid.T, least int) (list []string) {
	for range rapid.IntRange(least, 5).Draw(t, "revisions") {
		list = append(list, body(t, "a"))
	}
	return list
}

// filled returns a service over a site whose bucket a had these bodies.
func filled(t tester, bodies []string) (*Service, *memory) {
	s, m := service()
	for _, body := range bodies {
		put(t, s, "a", body)
	}
	return s, m
}

// Planning is deterministic and modifies neither its payload nor its snapshot: both still equal copies that were made
// in the same way and never planned.
func TestPayload_plan_pure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		history, next, compat := bodies(t, 0), body(t, "a"), rapid.Bool().Draw(t, "compat")
		prepare := func() (Payload, revisions.Snapshot) {
			s, _ := filled(t, history)
			p := payload(t, s, "a", next, "a")
			return p, needed(t, s, p)
		}
		p, snapshot := prepare()
		samePayload, sameSnapshot := prepare()
		first, err := p.plan(snapshot, compat)
		if err != nil {
			t.Fatal(err)
		}
		again, err := p.plan(snapshot, compat)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, again, exported()); diff != "" {
			t.Fatalf("planned again (-first +again)\n%s", diff)
		}
		if diff := cmp.Diff(samePayload, p, exported()); diff != "" {
			t.Fatalf("the payload (-before +after)\n%s", diff)
		}
		if diff := cmp.Diff(sameSnapshot, snapshot, exported()); diff != "" {
			t.Fatalf("the snapshot (-before +after)\n%s", diff)
		}
	})
}

// A rollback leaves the documents of its target, in its order.
func TestPlanRollback_law(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, m := service()
		shown := [][]string{nil}
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			bucket := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "bucket")
			if put(t, s, bucket, body(t, bucket)).Changed {
				shown = append(shown, m.shown())
			}
		}
		target := rapid.IntRange(0, len(shown)-1).Draw(t, "target")
		if _, err := s.Rollback(context.Background(), int64(target), revisions.Options{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(shown[target], m.shown()); diff != "" {
			t.Fatalf("after a rollback to %d (-then +now)\n%s", target, diff)
		}
		for _, bucket := range []string{"a", "b"} {
			filled := slices.ContainsFunc(m.live, func(doc *revisions.Stored) bool { return doc.Bucket == bucket })
			if commit := m.commits[len(m.commits)-1]; slices.Contains(commit.Diff.Emptied, bucket) && filled {
				t.Fatalf("bucket %s counts as emptied, and has documents", bucket)
			}
		}
	})
}

// A change set that moves documents leaves the same documents as single PUTs of the same texts.
func TestPayload_plan_changeSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, m := service()
		for range rapid.IntRange(1, 4).Draw(t, "change sets") {
			var text strings.Builder
			want := map[string]string{}
			for _, name := range rapid.Permutation([]string{"p", "q", "r", "s"}).Draw(t, "order") {
				bucket := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "bucket")
				if bucket == "" {
					continue
				}
				data := fmt.Sprintf(`{"x":%d}`, rapid.IntRange(0, 2).Draw(t, "x"))
				text.WriteString(inBucket(bucket, widget(name, data)))
				want[name] = bucket + " " + data
			}
			_, err := s.PutChangeSet(context.Background(), []string{"a", "b", "c"}, []byte(text.String()), document.YAML,
				revisions.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, doc := range m.live {
				got[doc.Name] = doc.Bucket + " " + string(doc.Data)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("documents (-want +got)\n%s", diff)
			}
		}
	})
}

// someNeed draws a need of a site.
func someNeed(t *rapid.T, m *memory) revisions.Need {
	need := revisions.Need{
		Buckets: rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.ID).Draw(t, "buckets"),
		Kinds: rapid.SliceOfDistinct(rapid.SampledFrom([]string{"acme/Widget/v1", "acme/V/v1"}), rapid.ID).Draw(t,
			"kinds"),
		Governed: rapid.SliceOfDistinct(rapid.SampledFrom([]string{"acme/Widget/v1", "acme/V/v1"}), rapid.ID).Draw(t,
			"governed"),
		Schemas: rapid.Bool().Draw(t, "schemas"), Evidence: rapid.Bool().Draw(t, "evidence"),
		Documents: rapid.Bool().Draw(t, "documents"), Preview: rapid.Bool().Draw(t, "preview"),
		Positions: rapid.Bool().Draw(t, "positions"),
	}
	if rapid.Bool().Draw(t, "rollback") {
		need.Target = new(int64)
	}
	for _, doc := range m.live {
		if rapid.Bool().Draw(t, "identity") {
			need.Identities = append(need.Identities, doc.Identity)
		}
		if rapid.Bool().Draw(t, "content") {
			need.Contents = append(need.Contents, doc.Digest)
		}
	}
	for _, check := range m.commits[1].Checks {
		if rapid.Bool().Draw(t, "check") {
			need.Checks = append(need.Checks, check.Pair)
		}
	}
	return need
}

// A snapshot read in two parts equals one read in a single query, for any need; if the site changed in between, it is
// the later one.
func TestService_read_law(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "a", layeringPolicy("lp")+dataSchema("object")+validationPolicy("v")+widget("a", "{}"))
	put(t, s, "b", clientVersions("{p: '1'}")+widget("b", "1")+widget("c", "{}"))
	changes := 0
	rapid.Check(t, func(t *rapid.T) {
		first, second := someNeed(t, m), someNeed(t, m)
		read := func(snapshot revisions.Snapshot, known, need revisions.Need) revisions.Snapshot {
			snapshot, err := s.read(context.Background(), snapshot, known, need)
			if err != nil {
				t.Fatal(err)
			}
			return snapshot
		}
		both, _ := first.With(second)
		part := read(revisions.Snapshot{}, revisions.Need{}, first)
		if rapid.Bool().Draw(t, "changed in between") {
			changes++
			put(t, s, "c", widget("d", strconv.Itoa(changes)))
		}
		got, want := read(part, first, both), read(revisions.Snapshot{}, revisions.Need{}, both)
		byID := cmpopts.SortSlices(func(a, b *revisions.Stored) bool { return a.ID < b.ID }) // claims have no order
		got.Claims = slices.Compact(slices.SortedFunc(slices.Values(got.Claims), revisions.ByPlace))
		same := cmp.Comparer(func(a, b *revisions.Stored) bool { return a == b })
		if diff := cmp.Diff(want, got, exported(), cmpopts.EquateEmpty(), byID, same); diff != "" {
			t.Fatalf("in two parts (-at once +in parts)\n%s", diff)
		}
	})
}
