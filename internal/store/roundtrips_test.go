package store_test

import (
	"testing"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// A change is read in one round trip, or two, and appended in two, audit included, also where the whole site is judged.
func TestService_Put_roundTrips(t *testing.T) {
	t.Parallel()
	for name, required := range map[string]revisions.Defaults{
		"documents": {validations.SchemaValidation}, "the whole site": validations.DefaultValidations(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			roundTrips(t, required)
		})
	}
}

func roundTrips(t *testing.T, required revisions.Defaults) {
	t.Helper()
	direct := storetest.URL(t)
	p, through := storetest.StartProxy(t, direct)
	s := changing(openStore(t, through, defaults()))
	s.DefaultValidations = required
	change := func(body string) func() {
		return func() {
			event := revisions.AuditEvent{UserID: "u", Method: "PUT", Target: "/", Status: 200}
			options := revisions.Options{Audit: &event}
			if _, err := s.Put(t.Context(), "a", []byte(body), document.YAML, options); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(t, open(t, direct), "schemas", widgetSchema)
	for n := range 2 {
		bodies := func(w2 int) string { return widget("w1", 10*n+1) + widget("w2", 10*n+w2) + widget("w3", 0) }
		change(bodies(1))()
		for _, c := range []struct {
			name string
			body string
			max  int
		}{
			{"nothing changed", bodies(1), 1},
			{"one document changed", bodies(2), 3},
			{"one document changed back to contents that are known", bodies(1), 4},
			{"one document added", bodies(1) + widget("w4", 10*n+3), 3},
			{"one document removed", bodies(1), 4},
			{"nothing left", "", 4},
		} {
			trips := p.During(change(c.body))
			if n > 0 && trips > c.max { // the first time statements are prepared
				t.Errorf("%s: %d round trips, want at most %d", c.name, trips, c.max)
			}
		}
	}
}
