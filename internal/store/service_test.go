package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// model is the expected state of the service: the buckets as plain maps, and the documents of each revision.
type model struct {
	buckets map[string]map[string]version
	history [][]string
}

type version struct{ data, revision int }

// put replaces a bucket by documents drawn at random; it gives their body and whether that changes anything.
func (m *model) put(t *rapid.T, bucket string) (body string, changed bool) {
	var documents strings.Builder
	names := rapid.Permutation([]string{"p", "q", "r", "s"}).Draw(t, "order")
	names = names[:rapid.IntRange(0, len(names)).Draw(t, "documents")]
	next := map[string]version{}
	for _, name := range names {
		v := version{rapid.IntRange(0, 2).Draw(t, "data"), len(m.history) + 1}
		if old, ok := m.buckets[bucket][name]; ok && old.data == v.data {
			v = old
		} else {
			changed = true
		}
		next[name] = v
		documents.WriteString(widget(bucket+name, v.data))
	}
	changed = changed || len(next) != len(m.buckets[bucket])
	if m.buckets[bucket] = next; changed {
		m.history = append(m.history, m.lines())
	}
	return documents.String(), changed
}

func (m *model) lines() (lines []string) {
	for bucket, documents := range m.buckets {
		for name, v := range documents {
			lines = append(lines, fmt.Sprintf("%s/%s%s={\"x\":%d}@%d", bucket, bucket, name, v.data, v.revision))
		}
	}
	slices.Sort(lines)
	return lines
}

// Any sequence of PUTs leaves every revision, for ever, with the documents that a plain map would hold.
func TestService_Put_model(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	services := []site{open(t, url), open(t, url)}
	rapid.Check(t, func(t *rapid.T) {
		if err := services[0].Purge(context.Background(), revisions.Options{}); err != nil {
			t.Fatalf("purge: %v", err)
		}
		m := &model{buckets: map[string]map[string]version{}}
		for range rapid.IntRange(1, 24).Draw(t, "puts") {
			bucket := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "bucket")
			body, changed := m.put(t, bucket)
			written := put(t, rapid.SampledFrom(services).Draw(t, "server"), bucket, body)
			if written.Changed != changed {
				t.Fatalf("PUT %q: changed is %v, want %v", body, written.Changed, changed)
			}
		}
		for i, want := range m.history {
			got := slices.Sorted(slices.Values(shown(t, services[0], int64(i+1))))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("revision %d of %d (-want +got)\n%s", i+1, len(m.history), diff)
			}
			checkPage(t, services[0], int64(i+1))
		}
		_, err := services[0].Documents(context.Background(), int64(len(m.history)+1), all())
		if fault.KindOf(err) != fault.NotFound {
			t.Fatalf("a revision too many: %v", err)
		}
	})
}

// checkPage checks that a page is the corresponding part of the list of all documents.
func checkPage(t *rapid.T, s site, revision int64) {
	selection := all()
	if rapid.Bool().Draw(t, "concrete") {
		selection.Abstract = []bool{false}
	}
	selection.Backwards = rapid.Bool().Draw(t, "backwards")
	whole := numbers(t, s, revision, selection)
	selection.Offset, selection.Limit = rapid.IntRange(0, 9).Draw(t, "offset"), rapid.IntRange(0, 9).Draw(t, "limit")
	want := whole[min(selection.Offset, len(whole)):]
	want = want[:min(selection.Limit, len(want))]
	if got := numbers(t, s, revision, selection); !slices.Equal(got, want) {
		t.Fatalf("revision %d: %+v has %v, want %v of %v", revision, selection, got, want, whole)
	}
}

// numbers lists the ids of selected documents.
func numbers(t failer, s site, revision int64, selection queries.Selection) (ids []int64) {
	t.Helper()
	found, err := s.Documents(context.Background(), revision, selection)
	if err != nil {
		t.Fatalf("documents of %d: %v", revision, err)
	}
	for _, doc := range found.Documents {
		ids = append(ids, doc.ID)
	}
	return ids
}

// PUTs at once, through two servers, give one revision each, in some order, and lose nothing.
func TestService_Put_concurrent(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	services := []site{open(t, url), open(t, url)}
	const writers, rounds = 16, 4
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for round := range rounds {
				put(t, services[w%2], fmt.Sprintf("bucket-%d", w), widget(fmt.Sprintf("w%d", w), round))
			}
		})
	}
	group.Wait()
	list, err := services[0].List(t.Context(), queries.Query{Page: queries.Page{Limit: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Revisions) != writers*rounds {
		t.Fatalf("%d revisions, want %d", len(list.Revisions), writers*rounds)
	}
	for i, revision := range list.Revisions {
		if revision.ID != int64(i+1) {
			t.Fatalf("revision %d stands at place %d: a gap or a wrong order", revision.ID, i+1)
		}
	}
	if n := len(shown(t, services[1], int64(len(list.Revisions)))); n != writers {
		t.Errorf("the last revision has %d documents, want %d", n, writers)
	}
}

// Of buckets that claim one identity at once, one gets it and the others a clean conflict.
func TestService_Put_sameIdentity(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	services := []site{open(t, url), open(t, url)}
	const writers = 8
	outcomes := make([]error, writers)
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			bucket := fmt.Sprintf("bucket-%d", w)
			_, outcomes[w] = services[w%2].Put(t.Context(), bucket, []byte(widget("same", w)), document.YAML, revisions.Options{})
		})
	}
	group.Wait()
	won := 0
	for _, err := range outcomes {
		var f *fault.Fault
		switch {
		case err == nil:
			won++
		case !errors.As(err, &f) || f.Type != "DuplicateDocumentExists":
			t.Errorf("got %v, want DuplicateDocumentExists", err)
		case !strings.Contains(f.Message, "[acme/Widget/v1, site] same already exists in bucket: bucket-"):
			t.Errorf("message %q", f.Message)
		}
	}
	if won != 1 {
		t.Errorf("%d writers got the identity, want 1", won)
	}
}

// A client that goes away changes nothing or everything, however far its request has come.
func TestService_Put_cancelled(t *testing.T) {
	t.Parallel()
	service := open(t, storetest.URL(t))
	const documents = 200
	for attempt := range 20 {
		before := put(t, service, "a", widget("w", attempt)).Revision
		var body strings.Builder
		for i := range documents {
			body.WriteString(widget(fmt.Sprintf("w%d", i), attempt))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(attempt)*3*time.Millisecond)
		_, err := service.Put(ctx, "a", []byte(body.String()), document.YAML, revisions.Options{})
		cancel()
		latest, latestErr := service.Resolve(t.Context(), "latest")
		if latestErr != nil {
			t.Fatal(latestErr)
		}
		want := map[int64]int{before: 1, before + 1: documents}[latest]
		if n := len(shown(t, service, latest)); n != want {
			t.Fatalf("after %v: revision %d (before: %d) has %d documents, want %d", err, latest, before, n, want)
		}
	}
}

// A document elsewhere fails when a DataSchema comes that it violates, in every revision until that is mended.
func TestService_Put_judgesElsewhere(t *testing.T) {
	t.Parallel()
	service := open(t, storetest.URL(t))
	schema := func(kind string) string {
		return "---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, name: acme/Widget/v1}\n" +
			"data: {properties: {x: {type: " + kind + "}}}\n"
	}
	for i, step := range []struct {
		bucket, body string
		entries      []string
	}{
		{"docs", widget("w1", 1) + widget("w2", 2), []string{"success", "success"}},
		{"schemas", schema("string"), []string{"success", "failure", "failure"}},
		{"other", widget("w3", 3), []string{"failure", "failure", "failure"}},
		{"other", "", []string{"success", "failure", "failure"}},
		{"docs", widget("w1", 1), []string{"failure"}},
		{"schemas", schema("integer"), []string{"success"}},
		{"schemas", schema("string"), []string{"success", "failure"}},
		{"schemas", "", []string{"success"}},
		{"docs", widget("w1", 5), []string{"success"}},
	} {
		written := put(t, service, step.bucket, step.body)
		entries, err := service.Entries(t.Context(), written.Revision, validations.SchemaValidation, all().Page)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, entry := range entries.Entries {
			got = append(got, entry.Status)
		}
		if diff := cmp.Diff(step.entries, got); diff != "" {
			t.Errorf("step %d, PUT %s %q (-want +got)\n%s", i, step.bucket, step.body, diff)
		}
		revision, err := service.Show(t.Context(), written.Revision)
		if err != nil {
			t.Fatal(err)
		}
		if failed := slices.Contains(got, "failure"); failed != (revision.Verdict.Status == validations.Failure) {
			t.Errorf("step %d: verdict %v over entries %v", i, revision.Verdict.Status, got)
		}
	}
}
