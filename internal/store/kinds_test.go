package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

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
	type counted struct {
		Kinds      map[string]validations.Kind
		Registered []string
	}
	kinds := func(s *store.Store, cleartext bool) counted {
		found, registered, err := s.Kinds(t.Context(), written.Revision, cleartext)
		if err != nil {
			t.Fatal(err)
		}
		return counted{found, slices.Sorted(slices.Values(registered))}
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
