package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/queries"
)

// Without a limit, a list of revisions is a page; Deckhand has no pages.
func TestQuery_Revisions_page(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]queries.Page{
		"": {Limit: 1000}, "offset=7": {Offset: 7, Limit: 1000}, "limit=5000": {Limit: 5000}, "limit=0": {},
	} {
		q := paramsOf(httptest.NewRequest(http.MethodGet, "/?"+query, nil))
		if diff := cmp.Diff(want, q.revisions(false).Page); diff != "" || q.err() != nil {
			t.Errorf("%q: %v (-want +got)\n%s", query, q.err(), diff)
		}
		if got := q.revisions(true).Page; got != (queries.Page{Limit: -1}) {
			t.Errorf("%q in compat mode: %v", query, got)
		}
	}
}
