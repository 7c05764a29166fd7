package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/api"
	"purser/internal/wire"
)

func TestHandler_negotiation(t *testing.T) {
	t.Parallel()
	s := filled(t, 1)
	const xyaml, yaml, json = "application/x-yaml", "application/yaml", "application/json"
	const text = "text/plain; charset=utf-8"
	for _, c := range []struct{ path, accept, want string }{
		{"revisions", "", xyaml},
		{"revisions", "*/*", xyaml},
		{"revisions", yaml, yaml},
		{"revisions", json, json},
		{"revisions", "application/json;q=0.5, application/yaml;q=0.9", yaml},
		{"revisions", "application/yaml, application/json", yaml},
		{"revisions", "application/json;q=0", xyaml},
		{"revisions", "application/json;q=0.1, */*", xyaml},
		{"revisions", "application/json, */*", json},
		{"revisions", "text/plain, application/json;q=0.1", json},
		{"revisions", "image/png", xyaml},
		{"revisions", "not a type, application/json", json},
		{"revisions", "APPLICATION/JSON", json},
		{"revisions", text, xyaml},
		{"revisions/1/documents", json, json},
		{"revisions/1/documents", "text/html", xyaml},
		{"revisions/1/status", "text/plain", text},
		{"revisions/1/status", json, json},
		{"revisions/9", json, json},
		{"revisions/1/graph", "text/vnd.graphviz", "text/vnd.graphviz; charset=utf-8"},
		{"/versions", json, json},
		{"/.well-known/oauth-protected-resource", "*/*", json},
		{"/openapi.yaml", json, yaml},
		{"/openapi.json", "*/*", json},
		{"/docs", "*/*", "text/html; charset=utf-8"},
		{"/nowhere", json, json},
	} {
		if got := s.get(t, c.path, "Accept", c.accept).Header.Get("Content-Type"); got != c.want {
			t.Errorf("%s with Accept %q: %q, want %q", c.path, c.accept, got, c.want)
		}
	}
	if got := s.get(t, "revisions", "Accept", "image/png", "Accept", json).Header.Get("Content-Type"); got != json {
		t.Errorf("of two Accept headers: %q, want %q", got, json)
	}
}

func TestHandler_contentType(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, c := range []struct {
		kind, encoding, body string
		want                 int
	}{
		{"Application/JSON", "", "[]", http.StatusOK},
		{"application/x-yaml", "identity", widget("w", "{}"), http.StatusOK},
		{"application/x-yaml", "br", widget("w", "{}"), http.StatusUnsupportedMediaType},
		{"application/x-yaml", "gzip", widget("w", "{}"), http.StatusBadRequest},
		{"application/json", "", "{", http.StatusBadRequest},
	} {
		header := append([]string{"Content-Encoding", c.encoding, "Content-Type", c.kind}, asJSON...)
		got := s.unchecked().do(t, http.MethodPut, "buckets/b/documents", c.body, header...)
		if got.StatusCode != c.want {
			t.Errorf("%q as %q %s: %d, want %d\n%s", c.body, c.kind, c.encoding, got.StatusCode, c.want, got.text)
		}
	}
}

func TestHandler_methods(t *testing.T) {
	t.Parallel()
	s := filled(t, 1)
	const revisions, tag = "DELETE, GET, OPTIONS", "DELETE, GET, OPTIONS, POST"
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{http.MethodOptions, "revisions", http.StatusOK, revisions},
		{http.MethodOptions, "revisions/1/tags/t", http.StatusOK, tag},
		{http.MethodOptions, "buckets/b/documents", http.StatusOK, "OPTIONS, PUT"},
		{http.MethodPatch, "revisions", http.StatusMethodNotAllowed, revisions},
		{http.MethodTrace, "revisions", http.StatusMethodNotAllowed, revisions},
		{"BREW", "revisions", http.StatusMethodNotAllowed, revisions},
		{http.MethodGet, "buckets/b/documents", http.StatusMethodNotAllowed, "OPTIONS, PUT"},
		{http.MethodHead, "revisions", http.StatusOK, ""},
		{http.MethodHead, "revisions/9", http.StatusNotFound, ""},
		{http.MethodGet, "revisions/", http.StatusOK, ""},
		{http.MethodGet, "revisions//", http.StatusNotFound, ""},
		{http.MethodOptions, "nowhere", http.StatusNotFound, ""},
	} {
		got := s.do(t, c.method, c.path, "", asJSON...)
		if diff := cmp.Diff([]any{c.status, c.allow}, []any{got.StatusCode, got.Header.Get("Allow")}); diff != "" {
			t.Errorf("%s %s: status and Allow (-want +got):\n%s", c.method, c.path, diff)
		}
	}
	s.do(t, http.MethodPatch, "revisions", "", asJSON...).fails(t, http.StatusMethodNotAllowed, "HTTPMethodNotAllowed")
}

// The refusal of a path that looks like a schema's says where schemas are.
func TestHandler_schemaPaths(t *testing.T) {
	t.Parallel()
	s := filled(t, 1)
	const where = "/api/v1.0/revisions/{revision}/schemas/{namespace}/{kind}/{version}/docs"
	for path, want := range map[string]string{
		"/schemas/acme/Widget/v1": where, "schemas/acme/Widget/v1/docs": where, "/schemas": where, "schemas/": where,
		"/schemasx": "/openapi.yaml lists all paths",
	} {
		got := s.get(t, path, asJSON...)
		if got.StatusCode != http.StatusNotFound || !strings.Contains(got.text, want) {
			t.Errorf("%s: %d, want %q in:\n%s", path, got.StatusCode, want, got.text)
		}
	}
}

// The refusal of a large body names --max-body only if the flag sets its limit.
func TestHandler_largeBodies(t *testing.T) {
	t.Parallel()
	s := filled(t, 1)
	for path, flag := range map[string]bool{"buckets/b/documents": true, "revisions/1/tags/t": false} {
		method, size := http.MethodPost, 65<<10
		if flag {
			method, size = http.MethodPut, 33<<20
		}
		got := s.do(t, method, path, strings.Repeat("#", size), append([]string{"Content-Type", "application/x-yaml"}, asJSON...)...)
		got.fails(t, http.StatusRequestEntityTooLarge, "HTTPPayloadTooLarge")
		if strings.Contains(got.text, "--max-body") != flag {
			t.Errorf("%s: %s", path, got.text)
		}
	}
}

func TestHandler_errors(t *testing.T) {
	t.Parallel()
	s := filled(t, 1)
	for path, want := range map[string]struct {
		status    int
		errorType string
	}{
		"nowhere":                    {http.StatusNotFound, "HTTPRouteNotFound"},
		"revisions/9":                {http.StatusNotFound, "RevisionNotFound"},
		"revisions/x":                {http.StatusNotFound, "RevisionNotFound"},
		"revisions/1/tags/none":      {http.StatusNotFound, "RevisionTagNotFound"},
		"revisions?limit=x":          {http.StatusBadRequest, "HTTPInvalidParam"},
		"revisions?limit=1&limit=2":  {http.StatusBadRequest, "HTTPInvalidParam"},
		"revisions?offset=-1":        {http.StatusBadRequest, "HTTPInvalidParam"},
		"revisions?sort=weight":      {http.StatusBadRequest, "HTTPInvalidParam"},
		"revisions/1/documents?sort": {http.StatusBadRequest, "HTTPInvalidParam"},
		"audit?limit=1001":           {http.StatusBadRequest, "HTTPInvalidParam"},
		"audit?since=yesterday":      {http.StatusBadRequest, "HTTPInvalidParam"},
	} {
		t.Run(strings.ReplaceAll(path, "/", "_"), func(t *testing.T) {
			t.Parallel()
			s.get(t, path, asJSON...).fails(t, want.status, want.errorType)
		})
	}
}

// Misspelt parameters are refused, not ignored.
func TestHandler_unknownParameters(t *testing.T) {
	t.Parallel()
	s, compat := filled(t, 2), newSite(t, func(config *api.Config) { config.Compat = true })
	compat.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	for _, c := range []struct {
		method, path, want string
		inCompat           int
	}{
		{"POST", "revisions/prune?keep=1&dryrun=true", `did you mean "dry-run"?`, http.StatusBadRequest},
		{"POST", "rollback/1?dryrun=true", `did you mean "dry-run"?`, http.StatusBadRequest},
		{"PUT", "buckets/b1/documents?dry_run=true", `did you mean "dry-run"?`, http.StatusBadRequest},
		{"DELETE", "revisions?dry-run=true", "it has message.", http.StatusBadRequest},
		{"DELETE", "revisions/1/tags?x", "it has revision-stamp.", http.StatusBadRequest},
		{"GET", "revisions/1/status?expct=success", `did you mean "expect"?`, http.StatusOK},
		{"GET", "revisions/1/documents?metadata.nam=w", `did you mean "metadata.name"?`, http.StatusOK},
		{"HEAD", "revisions/1?x", "", http.StatusOK},
		{"GET", "revisions/1?x", "it has wait.", http.StatusOK},
		{"GET", "/versions?x=%00", "no parameters", http.StatusOK},
		{"GET", "health?" + strings.Repeat("x", 100), "no parameters", http.StatusNoContent},
		{"GET", "revisions/1/validations/detail?cleartext-secrets=maybe", `"true" or "false"`, http.StatusBadRequest},
		{"PUT", "buckets/b1/documents?cleartext-secrets=maybe", `"true" or "false"`, http.StatusBadRequest},
	} {
		got := s.do(t, c.method, c.path, "", asJSON...)
		want := strings.ReplaceAll(c.want, `"`, `\"`) // it is JSON
		if got.StatusCode != http.StatusBadRequest || !strings.Contains(got.text, want) {
			t.Errorf("%s %s: %d, want 400 with %s\n%s", c.method, c.path, got.StatusCode, c.want, got.text)
		}
		if got := compat.do(t, c.method, c.path, "", asJSON...); got.StatusCode != c.inCompat {
			t.Errorf("%s %s with Compat: %d, want %d\n%s", c.method, c.path, got.StatusCode, c.inCompat, got.text)
		}
	}
	s.do(t, http.MethodOptions, "revisions?x", "").is(t, http.StatusOK)
	s.do(t, http.MethodPatch, "revisions?x", "").is(t, http.StatusMethodNotAllowed)
	if latest := s.get(t, "revisions/latest", asJSON...).mapping(t)["id"]; latest != 2. {
		t.Errorf("revision %v is the newest: a refused request has changed something", latest)
	}
}

// A parameter without a value is refused on every route, before anything else is looked at: the variable that it comes
// from may be unset. Flags, messages, roles and clusters may be empty.
func TestHandler_emptyParameters(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mayBeEmpty := []string{
		"cleartext-secrets", "dry-run", "findings", "rendered", "report", "message", "role", "cluster",
	}
	filled := regexp.MustCompile(`\{[^}]*\}`)
	for path, methods := range api.Routes() {
		for method, parameters := range methods {
			for _, parameter := range parameters {
				path := filled.ReplaceAllString(path, "1") + "?" + url.QueryEscape(parameter) + "="
				got := s.unchecked().do(t, method, path, "", asJSON...)
				refused := strings.Contains(got.text, "It must not be empty")
				switch {
				case slices.Contains(mayBeEmpty, parameter) == refused:
					t.Errorf("%s %s: %d\n%s", method, path, got.StatusCode, got.text)
				case refused && (got.StatusCode != http.StatusBadRequest || !strings.Contains(got.text, "HTTPInvalidParam")):
					t.Errorf("%s %s: %d\n%s", method, path, got.StatusCode, got.text)
				}
			}
		}
	}
	lenient := newSite(t, func(config *api.Config) { config.Compat = true })
	lenient.unchecked().get(t, "revisions?tag=").is(t, http.StatusOK)
	lenient.do(t, http.MethodPost, "revisions/1/tags/t?revision-stamp=", "", asJSON...).
		fails(t, http.StatusBadRequest, "HTTPInvalidParam")
}

func TestHandler_siteFull(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *api.Config) { c.Service.SiteDocuments = 1 })
	s.put(t, "b", widget("w1", "{}")).is(t, http.StatusOK)
	s.put(t, "b", widget("w1", "{}")+widget("w2", "{}"), asJSON...).fails(t, http.StatusConflict, "SiteFull")
	s.put(t, "b", widget("w2", "{}")).is(t, http.StatusOK)
}

func TestHandler_maxDeleted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "b", widget("w1", "{}")+widget("w2", "{}")).is(t, http.StatusOK)
	for _, dryRun := range []string{"", "&dry-run"} {
		got := s.put(t, "b?max-deleted=1"+dryRun, "", asJSON...)
		got.fails(t, http.StatusConflict, "TooManyDeleted")
		if !strings.Contains(got.text, "[acme/Widget/v1, site] w1, [acme/Widget/v1, site] w2.") {
			t.Errorf("the documents are not named: %s", got.text)
		}
		s.do(t, http.MethodPut, "changesets?buckets=b&max-deleted=0"+dryRun, "", asJSON...).
			fails(t, http.StatusConflict, "TooManyDeleted")
	}
	for _, dryRun := range []string{"", "&dry-run"} {
		s.do(t, http.MethodPost, "rollback/0?max-deleted=1"+dryRun, "", asJSON...).
			fails(t, http.StatusConflict, "TooManyDeleted")
	}
	s.put(t, "b?max-deleted=-1", "", asJSON...).fails(t, http.StatusBadRequest, "HTTPInvalidParam")
	s.put(t, "b?max-deleted=1", widget("w1", "{}")).is(t, http.StatusOK)
	s.do(t, http.MethodPost, "rollback/0?max-deleted=1", "", asJSON...).is(t, http.StatusCreated)
	if latest := s.get(t, "revisions/latest", asJSON...).mapping(t)["id"]; latest != 3. {
		t.Errorf("revision %v is the newest, want 3", latest)
	}
}

// The headers of a change summarize it, and those of its dry run predict them.
func TestHandler_summary(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	const schema = "---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, name: acme/Widget/v1}\n" +
		"data: {required: [x]}\n"
	for _, c := range []struct{ method, path, body, revision, changes, status string }{
		{"PUT", "buckets/b/documents", "", "0", "added=0, modified=0, deleted=0, unchanged=0", ""},
		{"PUT", "buckets/b/documents", widget("w1", "{}") + widget("w2", "{}"), "1", "added=2, modified=0, deleted=0, unchanged=0", "success; findings=0"},
		{"PUT", "buckets/b/documents", widget("w1", "{}") + widget("w2", "{}"), "1", "added=0, modified=0, deleted=0, unchanged=2", ""},
		{"PUT", "buckets/s/documents", schema, "2", "added=1, modified=0, deleted=0, unchanged=0", "failure; findings=2"},
		{"PUT", "changesets?buckets=b", "", "3", "added=0, modified=0, deleted=2, unchanged=0", "success; findings=0"},
		{"POST", "rollback/2", "", "4", "added=2, modified=0, deleted=0, unchanged=1", "failure; findings=2"},
	} {
		for _, query := range []string{"dry-run=true", "dry-run=false"} {
			path := c.path + "?" + query
			if strings.Contains(c.path, "?") {
				path = c.path + "&" + query
			}
			got := s.do(t, c.method, path, c.body, append([]string{"Content-Type", "application/x-yaml"}, asJSON...)...)
			headers := []string{
				got.Header.Get("Purser-Revision"), got.Header.Get("Purser-Changes"), got.Header.Get("Purser-Status"),
			}
			if diff := cmp.Diff([]string{c.revision, c.changes, c.status}, headers); diff != "" {
				t.Errorf("%s %s: revision, changes and status (-want +got)\n%s", c.method, path, diff)
			}
			if query != "dry-run=true" {
				continue
			}
			changes, _ := got.mapping(t)["changes"].(map[string]any)
			text := fmt.Sprintf("added=%v, modified=%v, deleted=%v, unchanged=%v",
				changes["added"], changes["modified"], changes["deleted"], changes["unchanged"])
			if text != c.changes {
				t.Errorf("%s %s says %s, want %s", c.method, path, text, c.changes)
			}
		}
	}
}

func TestHandler_conditionsOfChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.put(t, "a", widget("w", "{}"), "If-Match", `"0"`).is(t, http.StatusOK).Header.Get("ETag")
	for _, c := range []struct {
		match string
		want  int
	}{
		{`"0"`, http.StatusPreconditionFailed},
		{`"2"`, http.StatusPreconditionFailed},
		{`"1-99"`, http.StatusPreconditionFailed},
		{"1", http.StatusBadRequest},
		{`"x"`, http.StatusBadRequest},
		{`"01"`, http.StatusBadRequest},
		{first, http.StatusOK},
		{`W/"1"`, http.StatusOK},
		{`"7", "1"`, http.StatusOK},
		{"*", http.StatusOK},
	} {
		got := s.put(t, "a", widget("w", "{}"), "If-Match", c.match)
		if got.StatusCode != c.want {
			t.Errorf("If-Match: %s: %d, want %d\n%s", c.match, got.StatusCode, c.want, got.text)
		}
		if c.want != http.StatusBadRequest && got.Header.Get("ETag") != first {
			t.Errorf("If-Match: %s: ETag %s, want %s", c.match, got.Header.Get("ETag"), first)
		}
	}
}

func TestHandler_bounds(t *testing.T) {
	t.Parallel()

	t.Run("the database does not answer", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, down)
		got := s.get(t, "/readyz", asJSON...)
		got.is(t, http.StatusServiceUnavailable)
		if strings.Contains(got.text, "deadline") || !strings.Contains(s.log.String(), "deadline") {
			t.Errorf("the cause belongs into the log alone: %s\n%s", got.text, s.log)
		}
		s.get(t, "health").is(t, http.StatusNoContent)
	})

	t.Run("a ready server has a problem", func(t *testing.T) {
		t.Parallel()
		var problem error
		s := newSite(t, func(config *api.Config) { config.Problem = func() error { return problem } })
		for want, err := range map[string]error{
			`{"status":"ready"}`: nil, `{"problem":"Keystone answers with an error","status":"ready"}`: errors.New("Keystone answers with an error"),
		} {
			problem = err
			if got := s.get(t, "/readyz", asJSON...).is(t, http.StatusOK); strings.TrimSpace(got.text) != want {
				t.Errorf("answered %s, want %s", got.text, want)
			}
		}
	})

	t.Run("the issuer of tokens does not answer", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, func(config *api.Config) { config.Access.Authenticator = silent{} })
		for method, want := range map[string]string{
			http.MethodGet: "Keystone does not respond", http.MethodPut: "Keystone does not respond; nothing was stored",
		} {
			got := s.do(t, method, "buckets/b/documents", "", asJSON...)
			got.fails(t, http.StatusServiceUnavailable, "HTTPServiceUnavailable")
			if !strings.Contains(got.text, `"message":"`+want+`"`) { // purser retries a change that was not stored
				t.Errorf("%s: want %q\n%s", method, want, got.text)
			}
			if got := got.Header.Get("Purser-Stored"); (got == "no") != (method == http.MethodPut) {
				t.Errorf("%s: Purser-Stored: %q", method, got)
			}
		}
	})

	t.Run("requests of one user", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, func(config *api.Config) { config.Bounds.Rate = 1 })
		var got response
		const more = 30 // than one a second for ten seconds, even if the tenth second ends meanwhile
		for range more {
			if got = s.get(t, "revisions", asJSON...); got.StatusCode != http.StatusOK {
				break
			}
		}
		got.fails(t, http.StatusTooManyRequests, "HTTPTooManyRequests")
		if got.Header.Get("Retry-After") == "" {
			t.Error("it does not say when to come back")
		}
		s.get(t, "/readyz").is(t, http.StatusOK)
	})

	t.Run("bytes of a body", func(t *testing.T) {
		t.Parallel()
		body := widget("w", "{}")
		s := newSite(t, func(config *api.Config) { config.Limits.Body = int64(len(body)) })
		s.put(t, "a", body).is(t, http.StatusOK)
		s.put(t, "a", body+"#", asJSON...).fails(t, http.StatusRequestEntityTooLarge, "HTTPPayloadTooLarge")
	})
}

func TestHandler_paging(t *testing.T) {
	t.Parallel()
	s := filled(t, 4)
	for _, c := range []struct {
		query      string
		ids        []any
		next, prev string
	}{
		{"", []any{1., 2., 3., 4.}, "", ""},
		{"?limit=2", []any{1., 2.}, "limit=2&offset=2", ""},
		{"?limit=2&offset=2", []any{3., 4.}, "", "limit=2&offset=0"},
		{"?limit=1&offset=1&sort=id&order=desc", []any{3.}, "limit=1&offset=2&order=desc&sort=id", "limit=1&offset=0&order=desc&sort=id"},
		{"?offset=9", nil, "", "limit=9&offset=0"},
	} {
		listing := s.get(t, "revisions"+c.query, asJSON...).is(t, http.StatusOK).mapping(t)
		var ids []any
		results, _ := listing["results"].([]any)
		for _, item := range results {
			revision, _ := item.(map[string]any)
			ids = append(ids, revision["id"])
		}
		got := []string{query(listing["next"]), query(listing["prev"])}
		if diff := cmp.Diff([]any{c.ids, []string{c.next, c.prev}}, []any{ids, got}); diff != "" {
			t.Errorf("%s: ids, next and prev (-want +got):\n%s", c.query, diff)
		}
	}
}

// query is the part of a link after the question mark.
func query(link any) string {
	if link == nil {
		return ""
	}
	_, after, _ := strings.Cut(fmt.Sprint(link), "?")
	return after
}

// Each document of an answer has its own status in either media type, even if its neighbours have a different one.
func TestHandler_documentStatus(t *testing.T) {
	t.Parallel()
	s := filled(t, 2)
	s.put(t, "b2", widget("b2", "{}")+widget("b3", "{}")).is(t, http.StatusOK)
	const body = `[{"schema": "acme/Widget/v1", "metadata": {"schema": "metadata/Document/v1", "name": "w%d",
		"storagePolicy": "cleartext", "layeringDefinition": {"layer": "site"}}, "data": {}, "status": {"bucket": "c%d"}}]`
	var items []string
	for i, bucket := range []int{1, 1, 2, 1} {
		items = append(items, strings.Trim(fmt.Sprintf(body, i, bucket), "[]"))
	}
	changes := "[" + strings.Join(items, ",") + "]"
	put := func(accept string) response {
		return s.do(t, http.MethodPut, "changesets", changes, "Content-Type", "application/json", "Accept", accept).is(t,
			http.StatusOK)
	}
	for _, c := range []struct {
		name string
		of   func(accept string) response
		want []string
	}{
		{"written", put, []string{"c1 4", "c1 4", "c2 4", "c1 4"}},
		{"listed", func(accept string) response {
			return s.get(t, "revisions/4/documents", "Accept", accept)
		}, []string{"b1 1", "b2 2", "b2 3", "c1 4", "c1 4", "c2 4", "c1 4"}},
	} {
		for accept, pattern := range map[string]string{
			"application/yaml": `status:\n  bucket: (\S+)\n  revision: (\d+)`,
			"application/json": `"status":{"bucket":"(\S+)","revision":(\d+)}`,
		} {
			var got []string
			for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(c.of(accept).text, -1) {
				got = append(got, found[1]+" "+found[2])
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s as %s (-want +got)\n%s", c.name, accept, diff)
			}
		}
	}
}

// Everybody learns where clients get tokens, by the public URL or that of the request.
func TestHandler_resource(t *testing.T) {
	t.Parallel()
	const path = "/.well-known/oauth-protected-resource"
	none := newSite(t, func(config *api.Config) { config.Access.Authenticator = refusing{} })
	text := none.get(t, path).is(t, http.StatusOK).text
	if want := `{"resource":"http://localhost","bearer_methods_supported":["header"]}` + "\n"; text != want {
		t.Errorf("without an issuer: %s, want %s", text, want)
	}
	named := newSite(t, func(config *api.Config) {
		config.PublicURL, config.Access.Authenticator = "https://purser.example/site", refusing{}
		config.Access.Resource = wire.Resource{Issuers: []string{"https://id"}, Scopes: []string{"openid"}, ClientID: "cli"}
	})
	got := named.get(t, path).is(t, http.StatusOK)
	const want = `{"resource":"https://purser.example/site","authorization_servers":["https://id"],"scopes_supported":["openid"],` +
		`"bearer_methods_supported":["header"],"purser_client_id":"cli"}` + "\n"
	if diff := cmp.Diff(want, got.text); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	named.get(t, path, "If-None-Match", got.Header.Get("ETag")).is(t, http.StatusNotModified)
}
