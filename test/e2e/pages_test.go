package e2e_test

import (
	"net/http"
	"strings"
	"testing"
)

// Links contain the URL of a proxy if --public-url is set.
func TestSelection_publicPages(t *testing.T) {
	t.Parallel()
	s := startFresh(t, "--public-url", "https://purser.example/site/")
	s.put(t, "a", widget("v", "{}")+widget("w", "{}")).is(t, http.StatusOK)
	want := `<https://purser.example/site` + below() + `/api/v1.0/revisions/1/documents?limit=1&offset=1>; rel="next"`
	if got := s.get(t, "revisions/1/documents?limit=1").is(t, http.StatusOK).got.Get("Link"); got != want {
		t.Errorf("Link is %s, want %s", got, want)
	}
	if said := refusesToStart(t, "--public-url", "purser.example"); !strings.Contains(said, "--public-url must be a URL") {
		t.Errorf("it says only %s", said)
	}
}
