package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/revisions"
	"purser/internal/store/storetest"
)

// The documents of the newest revision are read once, and are kept through changes: also of another process, and of
// another revision under the same number.
func TestStore_AllDocuments(t *testing.T) {
	t.Parallel()
	direct := storetest.URL(t)
	p, through := startProxy(t, direct)
	kept := openStore(t, through, defaults())
	s, elsewhere := changing(kept), open(t, direct)
	change := func(body string) revisions.Written {
		written, err := s.Put(t.Context(), "a", []byte(body), 0, revisions.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return written
	}
	is := func(written revisions.Written, trips int, want ...string) {
		t.Helper()
		var got []string
		taken := p.during(func() {
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
	first := change(widget("w1", 1))
	is(first, 1, `w1{"x":1}`)
	is(first, 0, `w1{"x":1}`)
	second := change(widget("w1", 1) + widget("w2", 2))
	is(second, 0, `w1{"x":1}`, `w2{"x":2}`)
	is(first, 1, `w1{"x":1}`)
	is(second, 0, `w1{"x":1}`, `w2{"x":2}`) // which an older one does not replace
	third := put(t, elsewhere, "b", widget("w3", 3))
	is(third, 1, `w1{"x":1}`, `w2{"x":2}`, `w3{"x":3}`)
	is(third, 0, `w1{"x":1}`, `w2{"x":2}`, `w3{"x":3}`)
	if err := elsewhere.Purge(t.Context(), revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	is(put(t, elsewhere, "a", widget("w9", 9)), 1, `w9{"x":9}`)
}
