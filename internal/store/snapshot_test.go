package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// moment writes a change set in which each part says the same number: two buckets, a ValidationPolicy, a DataSchema
// that all documents fail, and client versions.
func moment(n int) string {
	in := func(bucket, text string) string { return text + "status: {bucket: " + bucket + "}\n" }
	return in("a", widget("wa", n)) + in("b", widget("wb", n)) +
		in("a", control("deckhand/ValidationPolicy/v1", "p", fmt.Sprintf("{validations: [{name: v%d-validation}]}", n))) +
		in("b", control("deckhand/DataSchema/v1", "acme/Widget/v1", fmt.Sprintf(`{title: "%d", type: string}`, n))) +
		in("b", control("purser/ClientVersions/v1", "cv", fmt.Sprintf(`{p: "%d"}`, n)))
}

// said returns all that a snapshot says of the number, by the part that says it.
func said(s revisions.Snapshot) map[string]string {
	parts := map[string]string{}
	add := func(part string, documents ...*revisions.Stored) {
		for _, doc := range documents {
			if doc.Schema == "acme/Widget/v1" {
				parts[part+" "+doc.Name] = strings.Trim(string(doc.Data), `{}"x:`)
			}
		}
	}
	for _, bucket := range s.Buckets {
		add("bucket", bucket.Documents...)
	}
	add("documents", s.Documents...)
	add("governed", s.Governed...)
	add("failing", s.Failing...)
	for _, policy := range s.Policies {
		parts["policy"] = strings.TrimSuffix(strings.TrimPrefix(policy.Requirements[0].Name, "v"), "-validation")
	}
	for _, schema := range s.Schemas {
		parts["schema"] = strings.Split(string(schema.Data), `"`)[3]
	}
	for _, versions := range s.ClientVersions {
		parts["versions"] = strings.Split(string(versions.Data), `"`)[3]
	}
	return parts
}

// Whatever is asked for comes from one moment, while other servers write.
func TestStore_Snapshot_oneMoment(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	const writers, rounds = 3, 15
	services := []site{open(t, url), open(t, url)}
	write := func(s site, n int) {
		_, err := s.PutChangeSet(t.Context(), nil, []byte(moment(n)), document.YAML, revisions.Options{})
		if err != nil {
			t.Error(err)
		}
	}
	write(services[0], 0)
	var group sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		group.Go(func() {
			for round := range rounds {
				write(services[w%2], 1+w*rounds+round)
			}
		})
	}
	defer group.Wait()
	go func() {
		group.Wait()
		close(done)
	}()
	zero := int64(0)
	need := revisions.Need{
		Buckets: []string{"a", "b"}, Schemas: true, Governed: []string{"acme/Widget/v1"}, Evidence: true, Documents: true,
		Preview: true, Positions: true, Target: &zero, Identities: []document.Identity{{Schema: "acme/Widget/v1", Layer: "site", Name: "wa"}},
	}
	readers := []*store.Store{openStore(t, url, defaults()), openStore(t, url, store.Options{Deadlines: store.DefaultDeadlines()})}
	for read := 0; ; read++ {
		s, err := readers[read%2].Snapshot(t.Context(), need)
		if err != nil {
			t.Fatal(err)
		}
		checkMoment(t, s)
		select {
		case <-done:
			return
		default:
		}
	}
}

// checkMoment compares the parts of a snapshot with each other.
func checkMoment(t *testing.T, s revisions.Snapshot) {
	t.Helper()
	parts := said(s)
	const wanted = 11 // both documents four times, and three others
	if len(parts) != wanted {
		t.Fatalf("revision %d: %d parts %v, want %d", s.Revision, len(parts), parts, wanted)
	}
	for part, n := range parts {
		if n != parts["policy"] {
			t.Fatalf("revision %d: %s says %s, the policy %s", s.Revision, part, n, parts["policy"])
		}
	}
	if s.Newest.ID != s.Revision || s.Comparison.Revision != s.Revision || len(s.Violations) != 2 || s.Live != 5 ||
		len(s.Positions) != 5 || len(s.Claims) != 1 || len(s.Comparison.Removed) != 5 {
		t.Fatalf("head %+v, newest %d, %d violations, %d positions, claims %v", s.Head, s.Newest.ID, len(s.Violations),
			len(s.Positions), s.Claims)
	}
	for _, bucket := range s.Buckets {
		if bucket.Changed != s.Revision {
			t.Fatalf("bucket %s changed with revision %d of %d", bucket.Name, bucket.Changed, s.Revision)
		}
	}
	slices.SortFunc(s.Violations, func(a, b revisions.Violation) int { return int(a.Document - b.Document) })
	for i, violation := range s.Violations {
		if violation.Document != s.Governed[i].ID || violation.Document != s.Failing[i].ID || violation.Since != s.Revision {
			t.Fatalf("violation %+v is not by %+v", violation, s.Governed[i])
		}
	}
}

// A snapshot has the data of its Need, and nothing else.
func TestStore_Snapshot_need(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	service := open(t, url)
	if _, err := service.PutChangeSet(t.Context(), nil, []byte(moment(1)), document.YAML, revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, url, defaults())
	unknown := document.DigestOf("unknown")
	got, err := s.Snapshot(t.Context(), revisions.Need{
		Buckets: []string{"b", "never", "a"}, Kinds: []string{"acme/Other/v1"}, Contents: []document.Digest{unknown},
		Checks:     []revisions.Pair{{Content: unknown}},
		Identities: []document.Identity{{Schema: "acme/Widget/v1", Layer: "global", Name: "wa"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var buckets []string
	for _, bucket := range got.Buckets {
		buckets = append(buckets, fmt.Sprintf("%s %d %d", bucket.Name, bucket.Changed, len(bucket.Documents)))
	}
	if diff := cmp.Diff([]string{"b 1 3", "never 0 0", "a 1 2"}, buckets); diff != "" {
		t.Errorf("buckets (-want +got)\n%s", diff)
	}
	got.Buckets, got.Held, got.Now, got.Stamp = nil, 0, time.Time{}, 0
	want := revisions.Snapshot{
		Head:     revisions.Head{Epoch: 1, Revision: 1, LastDocument: 5, Live: 5, Texts: 1},
		Contents: map[document.Digest]revisions.Content{}, Checks: map[validations.Pair][]validations.Finding{},
		Claims: []*revisions.Stored{}, Schemas: []*revisions.Stored{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("snapshot (-want +got)\n%s", diff)
	}
}

func TestStore_Recall(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	service, other := open(t, url), open(t, url)
	put(t, service, "a", widget("w", 1))
	s := openStore(t, url, defaults())
	if _, ok := s.Recall([]string{"a"}); ok {
		t.Error("a bucket is known that was never read")
	}
	if _, err := s.Snapshot(t.Context(), revisions.Need{Buckets: []string{"a", "empty"}}); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Recall([]string{"a", "empty"}); ok {
		t.Error("a bucket is known that does not exist")
	}
	first, ok := s.Recall([]string{"a"})
	if !ok || len(first.Buckets) != 1 || first.Buckets[0].Changed != 1 {
		t.Fatalf("recalled %+v, %v", first, ok)
	}
	put(t, other, "a", widget("w", 2))
	if stale, ok := s.Recall([]string{"a"}); !ok || stale.Buckets[0].Changed != 1 {
		t.Errorf("recalled %+v, %v, want what was read", stale, ok)
	}
	newer, err := s.Snapshot(t.Context(), revisions.Need{Buckets: []string{"a"}})
	if err != nil || newer.Buckets[0].Changed != 2 || string(newer.Buckets[0].Documents[0].Data) != `{"x":2}` {
		t.Errorf("snapshot %+v, %v", newer.Buckets, err)
	}
	again, err := s.Snapshot(t.Context(), revisions.Need{Buckets: []string{"a"}})
	if err != nil || again.Buckets[0].Documents[0] != newer.Buckets[0].Documents[0] {
		t.Errorf("the bucket was read again: %v", err)
	}
}

// After a purge numbers begin again; a bucket of before is not taken for one of after.
func TestStore_Recall_purged(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	service, other := open(t, url), open(t, url)
	put(t, service, "a", widget("w", 1))
	if err := other.Purge(t.Context(), revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	put(t, other, "a", widget("w", 2))
	if written := put(t, service, "a", widget("w", 1)); !written.Changed || written.Revision != 2 {
		t.Errorf("written %+v, want revision 2 over another server's", written)
	}
	if diff := cmp.Diff([]string{`a/w={"x":1}@2`}, shown(t, other, 2)); diff != "" {
		t.Errorf("documents (-want +got)\n%s", diff)
	}
}

// What is known of a bucket is what the database had when it was read: other texts that it was given since, without a
// revision, may be lost if the database is restored.
func TestStore_Remember(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	service := open(t, url)
	put(t, service, "a", widget("w", 1))
	s := openStore(t, url, defaults())
	before, err := s.Snapshot(t.Context(), revisions.Need{Buckets: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	reread, text := *before.Buckets[0].Documents[0], *before.Buckets[0].Documents[0].Document
	text.Segment = document.DigestOf("another text")
	reread.Document = &text
	s.Remember(before.Buckets, revisions.Revision{ID: 2, Stamp: 1, Buckets: []string{"b"}}, []*revisions.Stored{&reread})
	after, ok := s.Recall([]string{"a"})
	if !ok || after.Buckets[0].Documents[0] != before.Buckets[0].Documents[0] || after.Buckets[0].Changed != 1 {
		t.Errorf("recalled %+v, %v", after.Buckets, ok)
	}
	again, err := s.Snapshot(t.Context(), revisions.Need{Buckets: []string{"a"}})
	if err != nil || again.Buckets[0].Documents[0] != before.Buckets[0].Documents[0] {
		t.Errorf("snapshot %+v, %v", again.Buckets, err)
	}
	s.Remember(before.Buckets, revisions.Revision{ID: 2, Stamp: 1, Buckets: []string{"a"}}, []*revisions.Stored{&reread})
	after, ok = s.Recall([]string{"a"})
	if !ok || after.Buckets[0].Documents[0] != &reread || after.Buckets[0].Changed != 2 {
		t.Errorf("recalled of the next revision %+v, %v", after.Buckets, ok)
	}
}

// A bucket that is larger than the cache is not kept, and displaces none that is. Documents that are not kept are not
// shared, so nothing else is kept for them.
func TestStore_Recall_bounded(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	service := open(t, url)
	put(t, service, "small", widget("s", 1))
	put(t, service, "large", strings.Replace(widget("l", 1), "{x: 1}", "{x: "+strings.Repeat("y", 6000)+"}", 1))
	for _, c := range []struct {
		size         int
		small, large bool
	}{{0, false, false}, {4 << 10, true, false}, {32 << 10, true, true}} {
		s := openStore(t, url, store.Options{CacheSize: c.size, Deadlines: store.DefaultDeadlines()})
		for range 2 {
			read, err := s.Snapshot(t.Context(), revisions.Need{Buckets: []string{"small", "large"}})
			if err != nil || len(read.Buckets[0].Documents) != 1 || len(read.Buckets[1].Documents) != 1 {
				t.Fatalf("cache of %d: %+v, %v", c.size, read.Buckets, err)
			}
			if read.Buckets[0].Documents[0].Shared != c.small || read.Buckets[1].Documents[0].Shared != c.large {
				t.Errorf("cache of %d bytes: the documents of other buckets are shared than those of %v, %v", c.size, c.small,
					c.large)
			}
		}
		_, small := s.Recall([]string{"small"})
		_, large := s.Recall([]string{"large"})
		if small != c.small || large != c.large {
			t.Errorf("cache of %d bytes: small %v, large %v", c.size, small, large)
		}
	}
}
