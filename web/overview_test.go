package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"sync/atomic"
	"testing"

	"purser/internal/wire"
)

// results is an API with a number of results of one validation. It counts the requests for pages of them.
func results(t *testing.T, number int, pages *atomic.Int32) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if entry := path.Base(r.URL.Path); path.Base(path.Dir(r.URL.Path)) == "entries" {
			_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "createdAt": "result " + entry})
			return
		}
		pages.Add(1)
		offset, err := strconv.Atoi(r.URL.Query().Get("offset"))
		limit, err2 := strconv.Atoi(r.URL.Query().Get("limit"))
		if err != nil || err2 != nil {
			t.Errorf("%s asks for no page", r.URL)
		}
		list, next := []map[string]any{}, any(nil)
		for id := offset; id < min(number, offset+limit); id++ {
			list = append(list, map[string]any{"id": id, "status": "success"})
		}
		if offset+limit < number {
			next = "further"
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"results": list, "next": next})
	}
}

// The newest of up to 5,000 results is found. With more the overview says where to look, and reads no further.
func TestVisit_required(t *testing.T) {
	t.Parallel()
	for number, want := range map[int]string{0: "", 1: "result 0", 5000: "result 4999", 5001: "unasked", 90_000: "unasked"} {
		var pages atomic.Int32
		r := httptest.NewRequest(http.MethodGet, "/ui/", http.NoBody)
		v := &visit{Request: r, api: newAPI(results(t, number, &pages), r, "")}
		status := wire.Verdict{Policies: []wire.Policy{{
			Name: "gate", Validations: []wire.Validation{{Name: "site-validation", Status: "success"}},
		}}}
		all, err := v.required(t.Context(), wire.Revision{ID: 1}, status)
		if err != nil || len(all) != 1 {
			t.Fatalf("%d results: %v, %v", number, all, err)
		}
		got := all[0].Newest.CreatedAt
		if all[0].Unasked {
			got += "unasked"
		}
		if string(got) != want || pages.Load() > 5 {
			t.Errorf("of %d results it shows %q after %d pages, want %q", number, got, pages.Load(), want)
		}
	}
}
