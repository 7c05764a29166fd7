package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/api"
	"purser/internal/authz"
)

// fleet is a server with a site that others copy from, "global", and sites with these names.
func fleet(t *testing.T, s site, names ...string) site {
	t.Helper()
	for _, name := range append(names, "global") {
		s.putSite(t, name, "{}", as("admin")...).is(t, http.StatusCreated)
	}
	return s
}

// putIn puts documents into a bucket of a site.
func (s site) putIn(t *testing.T, name, bucket, body string, header ...string) response {
	t.Helper()
	return s.do(t, http.MethodPut, "/sites/"+name+"/api/v1.0/buckets/"+bucket+"/documents", body,
		slices.Concat(inYAML, asJSON, header)...)
}

// copyTo copies documents into a bucket of a site.
func (s site) copyTo(t *testing.T, name, bucket, query string, header ...string) response {
	t.Helper()
	return s.do(t, http.MethodPut, "/sites/"+name+"/api/v1.0/buckets/"+bucket+"/documents?"+query, "",
		slices.Concat(asJSON, header)...)
}

func (s site) of(t *testing.T, name, path string, header ...string) response {
	t.Helper()
	return s.do(t, http.MethodGet, "/sites/"+name+"/api/v1.0/"+path, "", slices.Concat(asJSON, header)...)
}

// bucketOf returns the bucket of a site as the list has it.
func (s site) bucketOf(t *testing.T, name, bucket string) map[string]any {
	t.Helper()
	for _, listed := range s.of(t, name, "buckets").is(t, http.StatusOK).mapping(t)["results"].([]any) {
		if found := listed.(map[string]any); found["name"] == bucket {
			return found
		}
	}
	t.Fatalf("the site %s has no bucket %s", name, bucket)
	return nil
}

// A copy is as if the documents had come in a body: text, comments, files and all.
func TestCopies(t *testing.T) {
	t.Parallel()
	s := fleet(t, newSite(t), "atl1")
	const text = "# kept\n" + "---\nschema: acme/W/v1\nmetadata: {schema: metadata/Document/v1, name: w, layeringDefinition: {layer: site}, " +
		"storagePolicy: cleartext}\ndata: {a: 0x10} # hex\n"
	s.putIn(t, "global", "base", text).is(t, http.StatusOK)
	s.copyTo(t, "atl1", "base", "from=global@1&dry-run=true").is(t, http.StatusOK)
	if got := s.copyTo(t, "atl1", "base", "from=global@latest").is(t, http.StatusOK); got.Header.Get("Purser-Changes") !=
		"added=1, modified=0, deleted=0, unchanged=0" {
		t.Errorf("headers: %v", got.Header)
	}
	const submitted = "revisions/latest/documents?form=submitted"
	if a, b := s.of(t, "global", submitted).text, s.of(t, "atl1", submitted).text; a != b || !strings.Contains(a, "# hex") {
		t.Errorf("the copy is another text:\n%s\n%s", a, b)
	}
	stamp := s.of(t, "global", "revisions/1").mapping(t)["stamp"]
	from := map[string]any{"site": "global", "revision": 1., "stamp": stamp, "bucket": "base"}
	if diff := cmp.Diff(map[string]any{"base": from}, s.of(t, "atl1", "revisions/1").mapping(t)["sources"]); diff != "" {
		t.Errorf("sources (-want +got)\n%s", diff)
	}
	listed := s.bucketOf(t, "atl1", "base")
	if diff := cmp.Diff([]any{from, 0.}, []any{listed["from"], listed["behind"]}); diff != "" {
		t.Errorf("the bucket (-want +got)\n%s", diff)
	}
	events := s.of(t, "atl1", "events?type=purser.revision.created").is(t, http.StatusOK).text
	if !strings.Contains(events, `"sources":{"base":{"site":"global","revision":1`) {
		t.Errorf("the event has no sources:\n%s", events)
	}
	// Nothing changes: no revision, but the bucket follows the newer revision.
	s.putIn(t, "global", "other", widget("o", "{}")).is(t, http.StatusOK)
	s.putIn(t, "global", "base", text+widget("n", "{}")).is(t, http.StatusOK)
	s.putIn(t, "global", "base", text).is(t, http.StatusOK)
	if behind := s.bucketOf(t, "atl1", "base")["behind"]; behind != 2. {
		t.Errorf("behind by %v", behind)
	}
	if got := s.copyTo(t, "atl1", "base", "from=global@latest").is(t, http.StatusOK).Header.Get("Purser-Revision"); got != "1" {
		t.Errorf("a copy of the same documents made revision %s", got)
	}
	if listed := s.bucketOf(t, "atl1", "base"); listed["behind"] != 0. || listed["from"].(map[string]any)["revision"] != 4. {
		t.Errorf("after that: %v", listed)
	}
	// Another bucket there, and a change set of all.
	s.copyTo(t, "atl1", "mine", "from=global@2/other").is(t, http.StatusOK)
	s.putIn(t, "atl1", "mine", "", "X", "y").isFault(t, http.StatusConflict, "BucketFollows", "detach=true")
	fresh := fleetSite(t, s, "bos1")
	s.do(t, http.MethodPut, "/sites/"+fresh+"/api/v1.0/changesets?from=global@3", "", asJSON...).is(t, http.StatusOK)
	if all := s.of(t, fresh, "revisions/1").mapping(t)["sources"].(map[string]any); len(all) != 2 {
		t.Errorf("a copy of the site has %v", all)
	}
}

func fleetSite(t *testing.T, s site, name string) string {
	t.Helper()
	s.putSite(t, name, "{}").is(t, http.StatusCreated)
	return name
}

// A bucket that follows takes no body, unless it is detached; a rollback restores what it followed.
func TestCopies_follow(t *testing.T) {
	t.Parallel()
	s := fleet(t, newSite(t), "a")
	s.putIn(t, "global", "b", widget("w", "{v: 1}")).is(t, http.StatusOK)
	s.copyTo(t, "a", "b", "from=global@1").is(t, http.StatusOK)
	for _, body := range []string{"", widget("w", "{v: 1}"), widget("w", "{v: 2}")} {
		s.putIn(t, "a", "b", body).isFault(t, http.StatusConflict, "BucketFollows", "bucket b of revision 1 of the site global")
	}
	s.do(t, http.MethodPut, "/sites/a/api/v1.0/changesets?buckets=b,c", "", slices.Concat(inYAML, asJSON)...).
		isFault(t, http.StatusConflict, "BucketFollows")
	s.do(t, http.MethodPut, "/sites/a/api/v1.0/buckets/b/packages/a.Cache", library(t, "a.Cache", "1", ""), "Content-Type",
		"application/zip", "Accept", "application/json").isFault(t, http.StatusConflict, "BucketFollows")
	s.putIn(t, "a", "c", widget("other", "{}")).is(t, http.StatusOK) // another bucket
	put := func(query, body string, status int) {
		t.Helper()
		s.do(t, http.MethodPut, "/sites/a/api/v1.0/buckets/b/documents?"+query, body, slices.Concat(inYAML, asJSON)...).is(t, status)
	}
	put("detach=true&dry-run=true", widget("w", "{v: 2}"), http.StatusOK)
	put("detach=true", widget("w", "{v: 1}"), http.StatusOK) // the same documents
	if _, follows := s.bucketOf(t, "a", "b")["from"]; follows {
		t.Error("a bucket that was detached without a revision follows")
	}
	put("", widget("w", "{v: 2}"), http.StatusOK)
	s.do(t, http.MethodPost, "/sites/a/api/v1.0/rollback/1", "", asJSON...).is(t, http.StatusCreated)
	if s.bucketOf(t, "a", "b")["from"] == nil {
		t.Error("a rollback to a revision with a bucket that followed restores nothing of that")
	}
	s.do(t, http.MethodPost, "/sites/a/api/v1.0/rollback/3", "", asJSON...).is(t, http.StatusCreated)
	if _, follows := s.bucketOf(t, "a", "b")["from"]; follows {
		t.Error("a rollback to a revision after that restores it too")
	}
	s.do(t, http.MethodDelete, "/sites/a/api/v1.0/revisions", "").is(t, http.StatusNoContent)
	put("", widget("w", "{v: 2}"), http.StatusOK)
}

// The site that a copy was made from may be pruned, purged, archived or deleted.
func TestCopies_sourceChanges(t *testing.T) {
	t.Parallel()
	s := fleet(t, schemasSite(t), "a")
	for _, v := range []string{"1", "2", "3"} {
		s.putIn(t, "global", "b", widget("w", "{v: "+v+"}")).is(t, http.StatusOK)
	}
	s.copyTo(t, "a", "b", "from=global@1").is(t, http.StatusOK)
	behind := func(want any) {
		t.Helper()
		if got := s.bucketOf(t, "a", "b")["behind"]; got != want {
			t.Errorf("behind by %v, want %v", got, want)
		}
	}
	behind(2.)
	s.do(t, http.MethodPost, "/sites/global/api/v1.0/revisions/prune?keep=1", "", asJSON...).is(t, http.StatusOK)
	behind(1.) // one of them is left
	s.copyTo(t, "a", "b", "from=global@1").isFault(t, http.StatusGone, "RevisionPruned", "site global")
	s.putSite(t, "global", "archived: true").is(t, http.StatusOK)
	s.copyTo(t, "a", "b", "from=global@latest").is(t, http.StatusOK) // reading goes on
	behind(0.)
	s.putSite(t, "global", "archived: false").is(t, http.StatusOK)
	s.do(t, http.MethodDelete, "/sites/global/api/v1.0/revisions", "").is(t, http.StatusNoContent)
	behind(nil)
	s.putIn(t, "global", "b", widget("w", "{v: 4}")).is(t, http.StatusOK)
	behind(nil)
	s.copyTo(t, "a", "b", "from=global@latest&expect=success").is(t, http.StatusOK)
	behind(0.)
	s.putSite(t, "global", "archived: true").is(t, http.StatusOK)
	s.do(t, http.MethodDelete, "/sites/global?confirm=global", "", asJSON...).is(t, http.StatusAccepted)
	s.copyTo(t, "a", "b", "from=global@latest").isFault(t, http.StatusGone, "SiteDeleted", "global")
	s.of(t, "a", "buckets").is(t, http.StatusOK)
}

// What cannot be copied is refused with words, and changes nothing.
func TestCopies_refused(t *testing.T) {
	t.Parallel()
	s := fleet(t, newSite(t), "a")
	s.putIn(t, "global", "b", widget("w", "{}")).is(t, http.StatusOK)
	for query, want := range map[string][3]string{
		"from=global":                    {"400", "HTTPInvalidParam", "SITE@REVISION"},
		"from=global@":                   {"400", "HTTPInvalidParam", "SITE@REVISION"},
		"from=@1":                        {"400", "HTTPInvalidParam", "SITE@REVISION"},
		"from=global@1/":                 {"400", "HTTPInvalidParam", "SITE@REVISION"},
		"from=":                          {"400", "HTTPInvalidParam", "must not be empty"},
		"expect=success":                 {"400", "HTTPInvalidParam", "needs from="},
		"from=global@1&expect=failure":   {"400", "HTTPInvalidParam", "expect"},
		"from=global@1&detach=true":      {"400", "HTTPInvalidParam", "not together"},
		"from=global@1-x":                {"400", "HTTPInvalidParam", "SITE@REVISION"},
		"from=global@1-c000000000000000": {"412", "HTTPPreconditionFailed", "revision 1 is another one than that with the stamp c000000000000000"},
		"from=global@9":                  {"404", "RevisionNotFound", "In the site global"},
		"from=global@tag:x":              {"404", "RevisionNotFound", "no revision has the tag"},
		"from=global@one":                {"404", "RevisionNotFound", "In the site global"},
		"from=global@tag:a/b":            {"404", "RevisionNotFound", "here b: name the revision of a tag with / by its number"},
		"from=global@1/" + strings.Repeat("x", 256): {"400", "HTTPInvalidParam", "The bucket in it has 256 characters"},
		"from=globel@1":                          {"404", "UnknownSite", "did you mean global?"},
		"from=a@1":                               {"400", "HTTPBadRequest", "rollback"},
		"from=global@1/c":                        {"404", "BucketNotFound", "1 bucket: c"},
		"from=global@1&max-deleted=-1":           {"400", "HTTPInvalidParam", "max-deleted"},
		"from=global@1%2Fb%2Fc":                  {"404", "BucketNotFound", "b/c"},
		"from=default@latest":                    {"404", "RevisionNotFound", "no revision yet"},
		"from=" + strings.Repeat("x", 70) + "@1": {"404", "UnknownSite", ""},
		"from=global@1&buckets=b&findings=1":     {"400", "HTTPInvalidParam", ""},
	} {
		status, _ := strconv.Atoi(want[0])
		s.copyTo(t, "a", "b", query).isFault(t, status, want[1], want[2])
	}
	s.do(t, http.MethodPut, "/sites/a/api/v1.0/buckets/b/documents?from=global@1", widget("w", "{}"),
		slices.Concat(inYAML, asJSON)...).isFault(t, http.StatusBadRequest, "HTTPBadRequest", "has a body")
	for body, status := range map[string]int{"": http.StatusOK, "x": http.StatusBadRequest} { // of unknown length
		r := httptest.NewRequest(http.MethodPut, "http://localhost/sites/a/api/v1.0/buckets/b/documents?from=global@1&dry-run=true",
			io.MultiReader(strings.NewReader(body)))
		r.Header.Set("Content-Type", "application/x-yaml")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != status {
			t.Errorf("a body %q of unknown length: status %d, want %d: %s", body, w.Code, status, w.Body)
		}
	}
	s.do(t, http.MethodPut, "/sites/a/api/v1.0/changesets?from=global@1/b", "", asJSON...).
		isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "buckets=")
	s.do(t, http.MethodPut, "/sites/a/api/v1.0/changesets?from=global@1&buckets=b,c,d", "", asJSON...).
		isFault(t, http.StatusNotFound, "BucketNotFound", "2 buckets: c and d")
	s.do(t, http.MethodPut, "/sites/global/api/v1.0/buckets/p/packages/a.Cache", library(t, "a.Cache", "1", ""), "Content-Type",
		"application/zip", "Accept", "application/json").is(t, http.StatusOK)
	s.copyTo(t, "a", "p", "from=global@2").isFault(t, http.StatusConflict, "PackagesNotCopied", "a.Cache")
	s.of(t, "a", "revisions/latest").is(t, http.StatusNotFound)
	s.putIn(t, "a", "mine", widget("w", "{}")).is(t, http.StatusOK)
	s.copyTo(t, "a", "b", "from=global@1").isFault(t, http.StatusConflict, "DuplicateDocumentExists", "The document is in another bucket",
		"copy both (PUT /changesets?from=")
}

// A promotion needs a success at the source; waivers count there, and lose their effect when they end.
func TestCopies_promotion(t *testing.T) {
	t.Parallel()
	s := fleet(t, newSite(t), "a")
	s.putIn(t, "global", "policy", policyOf("x-validation")).is(t, http.StatusOK)
	s.putIn(t, "global", "b", widget("w", "{}")).is(t, http.StatusOK)
	const promote = "from=global@2&expect=success"
	for _, query := range []string{promote, promote + "&dry-run=true"} {
		s.copyTo(t, "a", "b", query).isFault(t, http.StatusPreconditionFailed, "HTTPPreconditionFailed", "is no success",
			"x-validation")
	}
	waivers := "/sites/global/api/v1.0/revisions/2/waivers"
	waiver := s.do(t, http.MethodPost, waivers, "{validation: x-validation, reason: x, for: PT1H}", slices.Concat(inYAML, asJSON)...).
		is(t, http.StatusCreated).mapping(t)
	s.copyTo(t, "a", "b", promote+"&dry-run=true").is(t, http.StatusOK)
	s.do(t, http.MethodDelete, waivers+"/"+strconv.Itoa(int(waiver["id"].(float64))), "", asJSON...)
	s.copyTo(t, "a", "b", promote).is(t, http.StatusPreconditionFailed)
	s.do(t, http.MethodPost, "/sites/global/api/v1.0/revisions/2/validations/x-validation", "{status: success, validator: {name: x, version: '1'}}",
		slices.Concat(inYAML, asJSON)...).is(t, http.StatusCreated)
	s.copyTo(t, "a", "b", promote).is(t, http.StatusOK)
	s.of(t, "a", "revisions/1").is(t, http.StatusOK)
}

// A caller without the rights to secrets in both sites copies none; otherwise they are sealed for the site of the copy.
func TestCopies_secrets(t *testing.T) {
	t.Parallel()
	rules := rulesOf(t, authz.WithRoles, `{
		"deckhand:list_revisions": "not role:none",
		"deckhand:list_cleartext_documents": "role:admin or role:both or role:%(site)s or role:reader",
		"deckhand:list_encrypted_documents": "role:admin or role:both or role:%(site)s",
		"deckhand:create_cleartext_documents": "role:admin or role:both or role:a or role:reader or role:global",
		"deckhand:create_encrypted_documents": "role:admin or role:both"}`)
	s := fleet(t, openSite(t, settings{vault: newVault(t)}, func(c *api.Config) {
		c.Access = api.Access{Authenticator: byRole{}, Rules: rules}
	}), "a")
	s.putIn(t, "global", "b", sealed(secret("s", "{k: hidden}")), as("admin")...).is(t, http.StatusOK)
	const from = "from=global@1"
	s.copyTo(t, "a", "b", from, as("none")...).isFault(t, http.StatusNotFound, "UnknownSite", "There is no site a")
	s.copyTo(t, "a", "b", from, as("a")...).isFault(t, http.StatusForbidden, "HTTPForbidden", "deckhand:list_cleartext_documents")
	s.copyTo(t, "a", "b", from, as("reader")...).isFault(t, http.StatusForbidden, "HTTPForbidden",
		"deckhand:list_encrypted_documents", "in the site global", "acme/Secret/v1, site] s")
	for _, query := range []string{from, from + "&dry-run=true"} { // may see it there, and not store it here
		s.copyTo(t, "a", "b", query, as("global")...).isFault(t, http.StatusForbidden, "HTTPForbidden", "deckhand:create_encrypted_documents")
	}
	s.of(t, "a", "revisions/latest", as("admin")...).is(t, http.StatusNotFound)
	s.copyTo(t, "a", "b", from+"&expect=success", as("both")...).isFault(t, http.StatusForbidden, "HTTPForbidden",
		"deckhand:show_revision")
	s.copyTo(t, "a", "b", from, as("both")...).is(t, http.StatusOK)
	s.putIn(t, "a", "layers", layeringPolicy("lp"), as("both")...).is(t, http.StatusOK)
	rendered := s.of(t, "a", "revisions/latest/rendered-documents?cleartext-secrets=true", as("admin")...)
	if !strings.Contains(rendered.text, "hidden") {
		t.Errorf("the secret did not come along:\n%s", rendered.text)
	}
	here, there := s.of(t, "a", "revisions/latest/documents", as("admin")...), s.of(t, "global", "revisions/latest/documents",
		as("admin")...)
	if strings.Contains(here.text, "hidden") || here.text == there.text {
		t.Errorf("the secret is in clear, or sealed for the other site:\n%s", here.text)
	}
}

// A copy counts as an upload of its user.
func TestCopies_uploads(t *testing.T) {
	t.Parallel()
	rules := rulesOf(t, authz.WithRoles, "{}")
	s := fleet(t, newSite(t, func(c *api.Config) {
		c.Access, c.Bounds.Ingests = api.Access{Authenticator: byRole{}, Rules: rules}, 1
	}), "a")
	s.putIn(t, "global", "b", widget("w", "{}"), as("admin")...).is(t, http.StatusOK)
	during := reading(func() {
		s.copyTo(t, "a", "b", "from=global@1", as("admin")...).isFault(t, http.StatusTooManyRequests, "HTTPTooManyRequests")
	})
	r := httptest.NewRequest(http.MethodPut, "http://localhost/api/v1.0/buckets/b/documents", during)
	r.Header.Set("X-Auth-Token", "admin")
	r.Header.Set("Content-Type", "application/x-yaml")
	s.ServeHTTP(httptest.NewRecorder(), r)
	s.copyTo(t, "a", "b", "from=global@1", as("admin")...).is(t, http.StatusOK)
}

// reading is an empty body, during whose reading something happens.
type reading func()

// Read implements io.Reader.
func (happens reading) Read([]byte) (int, error) {
	happens()
	return 0, io.EOF
}
