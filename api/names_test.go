package api_test

import (
	"net/http"
	"strings"
	"testing"

	"purser/api"
)

// Nobody can make a tag or a result with a name that clients and proxies remove from URLs; others that begin like it are
// names as any other.
func TestHandler_removedNames(t *testing.T) {
	t.Parallel()
	for _, compat := range []bool{false, true} {
		s := newSite(t, func(config *api.Config) { config.Compat = compat })
		s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
		s.ask(t, http.MethodPut, "buckets/%2E%2E/documents", widget("x", "{}"), "Content-Type", "application/x-yaml").
			is(t, http.StatusBadRequest)
		s.ask(t, http.MethodPut, "buckets/%2E%2E/documents", "", "Content-Type", "application/x-yaml").is(t, http.StatusOK)
		s.ask(t, http.MethodPut, "changesets", widget("x", "{}")+"status: {bucket: ..}\n", "Content-Type", "application/x-yaml").
			is(t, http.StatusBadRequest)
		for name, status := range map[string]int{
			".": http.StatusBadRequest, "..": http.StatusBadRequest, "%2E": http.StatusBadRequest, ".%2e": http.StatusBadRequest,
			"...": http.StatusCreated, ".x": http.StatusCreated, "%20.": http.StatusCreated,
		} {
			for path, body := range map[string]string{
				"revisions/1/tags/": "{}", "revisions/1/validations/": "{status: success, validator: {name: v, version: '1'}}",
			} {
				got := s.do(t, http.MethodPost, path+name, body, "Content-Type", "application/x-yaml")
				why := strings.Contains(got.text, "remove from URLs") && strings.Contains(got.text, "choose another name")
				if got.StatusCode != status || (status == http.StatusBadRequest) != why {
					t.Errorf("%s%s, compat %v: %s, want %d\n%s", path, name, compat, got.Status, status, got.text)
				}
			}
		}
	}
}
