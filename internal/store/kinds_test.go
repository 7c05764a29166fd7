package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

type counted struct {
	Kinds      map[string]validations.Kind
	Registered []string
}

func countedBy(t *testing.T, kinds func(context.Context, int64, bool) (map[string]validations.Kind, []string, error),
	revision int64, cleartext bool,
) counted {
	t.Helper()
	found, registered, err := kinds(t.Context(), revision, cleartext)
	if err != nil {
		t.Fatal(err)
	}
	return counted{found, slices.Sorted(slices.Values(registered))}
}

// The documents of a revision are counted by the index of live documents and those closed since as by reading all.
func TestStore_Kinds_recent(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, site := openStore(t, url, defaults()), open(t, url)
	other := func(name string) string {
		return strings.Replace(widget(name, 1), "acme/Widget/v1", "acme/Other/v1", 1)
	}
	abstract := strings.Replace(other("B"), "{layer: site}", "{layer: site, abstract: true}", 1)
	for _, body := range []string{
		layers + widget("b", 1), layers + widget("b", 2) + widget("a", 1) + other("x"), widgetSchema + layers + abstract,
		layers, widgetSchema + layers + widget("z", 1) + abstract + other("x"),
	} {
		put(t, site, "a", body)
	}
	storetest.Execute(t, storetest.Connect(t, url), "UPDATE documents SET encrypted = true WHERE name IN ('a', 'z')")
	for revision := int64(1); revision <= 5; revision++ {
		for _, cleartext := range []bool{false, true} {
			want := countedBy(t, s.AllKinds, revision, cleartext)
			if diff := cmp.Diff(want, countedBy(t, s.Kinds, revision, cleartext)); diff != "" {
				t.Errorf("%d, without encrypted documents: %v: -all +recent:\n%s", revision, cleartext, diff)
			}
		}
	}
}

// A site without documents has no schemas, also for a server that has none of it in memory.
func TestStore_Kinds_none(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, site := openStore(t, url, defaults()), open(t, url)
	put(t, site, "a", widget("w", 1))
	put(t, site, "a", "")
	if found := countedBy(t, s.Kinds, 2, false); len(found.Kinds)+len(found.Registered) > 0 {
		t.Errorf("found %v", found)
	}
}

// Documents of a schema are counted up to a thousand, also where they are in memory; reading more of them, or the
// statistics of an empty table, do not make it slow.
func TestStore_Kinds_many(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	conn := storetest.Connect(t, url)
	const documents = 3000
	var body strings.Builder
	for i := range documents {
		body.WriteString(widget(fmt.Sprintf("w%04d", i), 1))
	}
	written := put(t, open(t, url), "a", body.String()+strings.Replace(widget("x", 1), "acme/Widget/v1", "acme/Other/v1", 1))
	s := openStore(t, url, store.Options{CacheSize: 1 << 30, Deadlines: store.DefaultDeadlines()})
	first := document.Identity{Schema: "acme/Widget/v1", Layer: "site", Name: "w0000"}
	want := validations.Kind{Documents: 1000, AtLeast: true, First: first}
	for _, kept := range []string{"in the database", "in memory"} {
		found := countedBy(t, s.Kinds, written.Revision, false)
		if diff := cmp.Diff(want, found.Kinds["acme/Widget/v1"]); diff != "" {
			t.Errorf("%s: %s", kept, diff)
		}
		if _, err := s.AllDocuments(t.Context(), written.Revision, written.Stamp); err != nil {
			t.Fatal(err)
		}
	}
	refill(t, conn, "documents")
	storetest.Execute(t, conn, "SET plan_cache_mode = force_generic_plan; "+
		store.Prepare("kinds", store.Statements.RecentKinds))
	sql := store.Execute("kinds", store.Statements.RecentKinds, map[string]string{
		"site": "'default'", "revision": "1", "cleartext": "false", "most_kinds": "10000", "most_documents": "10",
		"before": "'{1}'", "after": "'{}'",
	})
	if pages := pagesRead(t, conn, sql); pages > 40 {
		t.Errorf("%d pages are read", pages)
	}
}

// A server with the newest revision in memory counts the documents of each schema there, without reading any, as another
// one counts them in the database.
func TestStore_Kinds_inMemory(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	warm, cold, conn := openStore(t, url, defaults()), openStore(t, url, defaults()), storetest.Connect(t, url)
	body := widgetSchema + layers + widget("b", 1) + widget("a", 1) +
		strings.Replace(widget("c", 1), "acme/Widget/v1", "acme/Other/v1", 1) +
		widget("A", 1) +
		strings.Replace(widget("B", 1), "{layer: site}", "{layer: site, abstract: true}", 1)
	written := put(t, open(t, url), "a", body)
	const encrypt = "UPDATE documents SET encrypted = true, metadata = replace(metadata, 'cleartext', 'encrypted') " +
		"WHERE name = 'A'"
	if _, err := conn.Exec(t.Context(), encrypt); err != nil {
		t.Fatal(err)
	}
	if _, err := warm.AllDocuments(t.Context(), written.Revision, written.Stamp); err != nil {
		t.Fatal(err)
	}
	kinds := func(s *store.Store, cleartext bool) counted {
		return countedBy(t, s.Kinds, written.Revision, cleartext)
	}
	stored := map[bool]counted{false: kinds(cold, false), true: kinds(cold, true)}
	secrets, others := stored[false].Kinds["acme/Widget/v1"], stored[true].Kinds["acme/Widget/v1"]
	if secrets.Documents != 3 || others.Documents != 2 || others.First.Name != "a" {
		t.Fatalf("%v and, without encrypted documents, %v", secrets, others)
	}
	if _, err := conn.Exec(t.Context(), "UPDATE documents SET abstract = true"); err != nil {
		t.Fatal(err)
	}
	for cleartext, want := range stored {
		if diff := cmp.Diff(want, kinds(warm, cleartext)); diff != "" {
			t.Errorf("without encrypted documents: %v: -database +memory:\n%s", cleartext, diff)
		}
	}
}
