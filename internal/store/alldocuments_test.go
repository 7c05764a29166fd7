package store_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/changes"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/storetest"
)

// The documents of the newest revision are read once, and are kept through changes: also of another process, and of
// another revision under the same number.
func TestStore_AllDocuments(t *testing.T) {
	t.Parallel()
	direct := storetest.URL(t)
	p, through := storetest.StartProxy(t, direct)
	kept := openStore(t, through, defaults())
	s, elsewhere := changing(kept), open(t, direct)
	change := func(body string) changes.Written {
		written, err := s.Put(t.Context(), "a", []byte(body), 0, revisions.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return written
	}
	is := func(written changes.Written, trips int, want ...string) {
		t.Helper()
		var got []string
		taken := p.During(func() {
			all, err := kept.AllDocuments(t.Context(), written.Revision, written.Stamp)
			if err != nil || all.Stamp != written.Stamp || all.Revision != written.Revision {
				t.Fatalf("revision %d with stamp %v, want %v: %v", all.Revision, all.Stamp, written.Stamp, err)
			}
			for _, doc := range all.Documents {
				if _, decoded := doc.Decoded(); !decoded && trips == 0 {
					t.Errorf("the traits of %s are not decoded", doc.Name)
				}
				got = append(got, doc.Name+string(doc.Data))
			}
		})
		if diff := cmp.Diff(want, got); diff != "" || taken > 0 != (trips > 0) {
			t.Errorf("%d round trips, want %d; documents (-want +got)\n%s", taken, trips, diff)
		}
	}
	first := change(widget("w1", 1)) // of a site that was empty, they are known
	is(first, 0, `w1{"x":1}`)
	second := change(widget("w1", 1) + widget("w2", 2))
	is(second, 0, `w1{"x":1}`, `w2{"x":2}`)
	is(first, 1, `w1{"x":1}`)
	is(second, 0, `w1{"x":1}`, `w2{"x":2}`) // which an older one does not replace
	again, err := s.Rollback(t.Context(), second.Revision-1, revisions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	is(again, 0, `w1{"x":1}`)
	if again, err = s.Rollback(t.Context(), second.Revision, revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	is(again, 0, `w1{"x":1}`, `w2{"x":2}`)
	third := put(t, elsewhere, "b", widget("w3", 3))
	is(third, 1, `w1{"x":1}`, `w2{"x":2}`, `w3{"x":3}`)
	is(third, 0, `w1{"x":1}`, `w2{"x":2}`, `w3{"x":3}`)
	if err := elsewhere.Purge(t.Context(), revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	is(put(t, elsewhere, "a", widget("w9", 9)), 1, `w9{"x":9}`)
	if err := elsewhere.Purge(t.Context(), revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	is(change(widget("w8", 8)), 0, `w8{"x":8}`)
}

// Documents of the newest revision come from the cache if all of them, or a page, are requested by a viewer who may see
// all and needs no copies; documents of another revision with the same number never do.
func TestStore_Documents_shared(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	kept, elsewhere := openStore(t, url, defaults()), open(t, url)
	first := put(t, elsewhere, "a", widget("w1", 1)+widget("w2", 2)+widget("w3", 3))
	all, err := kept.AllDocuments(t.Context(), first.Revision, first.Stamp)
	if err != nil {
		t.Fatal(err)
	}
	none := queries.Page{Limit: -1}
	for _, c := range []struct {
		name   string
		asked  queries.Selection
		shared bool
		want   []string
	}{
		{"all", queries.Selection{Shared: true, Page: none, MaxBytes: 1}, true, []string{"w1", "w2", "w3"}},
		{"a page", queries.Selection{Shared: true, Page: queries.Page{Offset: 1, Limit: 1}}, true, []string{"w2"}},
		{"behind the end", queries.Selection{Shared: true, Page: queries.Page{Offset: 9, Limit: 1}}, true, nil},
		{"copied", queries.Selection{Page: none}, false, []string{"w1", "w2", "w3"}},
		{"without encrypted ones", queries.Selection{Shared: true, Cleartext: true, Page: none}, false, []string{"w1", "w2", "w3"}},
		{"backwards", queries.Selection{Shared: true, Backwards: true, Page: none}, false, []string{"w3", "w2", "w1"}},
		{"concrete", queries.Selection{Shared: true, Abstract: []bool{true}, Page: none}, false, nil},
		{"of a name", queries.Selection{Shared: true, Names: []string{"w2"}, Page: none}, false, []string{"w2"}},
	} {
		got, err := kept.Documents(t.Context(), first.Revision, c.asked)
		if err != nil || got.Stamp != first.Stamp || got.Revision != first.Revision {
			t.Errorf("%s: revision %d with stamp %v: %v", c.name, got.Revision, got.Stamp, err)
		}
		var names []string
		for _, doc := range got.Documents {
			names = append(names, doc.Name)
			if shared := slices.Contains(all.Documents, doc); shared != c.shared {
				t.Errorf("%s: %s is shared: %v, want %v", c.name, doc.Name, shared, c.shared)
			}
		}
		if diff := cmp.Diff(c.want, names); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
	if err := elsewhere.Purge(t.Context(), revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	whole := queries.Selection{Shared: true, Page: none}
	if _, err := kept.Documents(t.Context(), first.Revision, whole); err == nil {
		t.Error("documents of a deleted revision")
	}
	again := put(t, elsewhere, "a", widget("w9", 9))
	got, err := kept.Documents(t.Context(), again.Revision, whole)
	if err != nil || again.Revision != first.Revision || len(got.Documents) != 1 || got.Stamp != again.Stamp {
		t.Errorf("%d documents of revision %d after a purge: %v", len(got.Documents), got.Revision, err)
	}
}
