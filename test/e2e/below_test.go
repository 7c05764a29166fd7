package e2e_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"purser/internal/sites"
)

// siteVariable is the environment variable that names the site which all tests use, instead of the default one. Beside it
// the default site has the same buckets, names of documents, numbers and tags, but other contents.
const siteVariable = "PURSER_TEST_SITE"

// siteName returns the name of the site that is tested.
func siteName() string { return cmp.Or(os.Getenv(siteVariable), sites.Default) }

// below returns the prefix of the paths of the site that is tested, "" for the default one.
func below() string {
	if siteName() == sites.Default {
		return ""
	}
	return "/sites/" + siteName()
}

// makeSite makes the tested site in a database that has not been prepared. There the server has no authentication.
func (s *server) makeSite(t *testing.T) {
	t.Helper()
	if below() == "" {
		return
	}
	if a, err := s.try(t.Context(), request{method: http.MethodGet, path: "/readyz"}); err == nil && a.status == http.StatusNotFound {
		_, err = (&server{url: s.root, client: s.client}).try(t.Context(),
			request{method: http.MethodPut, path: below(), body: "{}", header: yamlBody()})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// notBelow are the tests that do not run below a site, with the reason.
var notBelow = map[string]string{
	"TestFront":                     "it is about the server's front page",
	"TestMonitoring_sites":          aboutSites,
	"TestMoveSite":                  aboutSites,
	"TestFleet":                     aboutSites,
	"TestFleet_killed":              aboutSites,
	"TestOperation":                 metricsOfDefault,
	"TestMonitoring":                metricsOfDefault,
	"TestMonitoring_newestRevision": metricsOfDefault,
	"TestDatabase_isLostAndFound":   metricsOfDefault,
	"TestUI":                        pagesOfDefault,
	"TestUI_certificate":            pagesOfDefault,
	"TestWebhooks_secrets":          noRights,
	"TestTokens_fileChanges":        noRights,
	"TestBounds_rate":               noRights,
	"TestPurser_tlsAndTokens":       noRights,
	"TestDocumentHistory":           noRights,
	"TestAccess_documentedFiles":    noRights,
	"TestAccess_commandsNeedRoles":  noRights,
	"TestAccess_rolesNeedOwnTokens": noRights,
	"TestUpgrade":                   upgraded,
	"TestUpgrade_interrupted":       upgraded,
	"TestUpgrade_leftBehind":        upgraded,
	"TestSecrets_rotation":          "it counts the secrets of all sites, which have different keysets here",
	"TestDocs":                      documented,
	"TestDocs_symptoms":             documented,
	"TestDocs_fleets":               aboutSites,
}

const (
	aboutSites       = "it makes other sites, or moves one"
	metricsOfDefault = "the metrics are those of the default site"
	pagesOfDefault   = "the pages of a site have tests of their own"
	noRights         = "callers without rights are answered with 404 below a site, which TestUnknownSites of package api shows"
	upgraded         = "databases of earlier versions have the default site only"
	documented       = "the documents show answers of a server with one site"
)

// skipBelow skips a test that cannot run below a site, and one whose server has no sites.
func skipBelow(t *testing.T, args []string) {
	t.Helper()
	if below() == "" {
		return
	}
	name, _, _ := strings.Cut(t.Name(), "/")
	if reason, ok := notBelow[name]; ok {
		t.Skip("not below a site: " + reason)
	}
	if strings.Contains(strings.Join(args, " "), "--compat") {
		t.Skip("with --compat there are no sites")
	}
}

// decoy is in each text of the site beside the tested one, and must be in no answer.
const decoy = "of-another-site"

// besideDecoy makes the tested site in a migrated database, and fills the default one.
func besideDecoy(database string) (err error) {
	keyset, err := lastingKeyset()
	if err != nil {
		return err
	}
	s, err := spawn(nil, lean, patientClient(), "serve", "--listen", "127.0.0.1:0", "--log-format", "json",
		"--database-url", database, "--secrets-keyset", keyset)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.halt()) }()
	if err := s.await(); err != nil {
		return err
	}
	for _, r := range decoys() {
		r.header = yamlBody()
		switch a, err := s.try(context.Background(), r); {
		case err != nil:
			return err
		case a.status >= http.StatusBadRequest:
			return fmt.Errorf("%s %s: status %d: %s", r.method, r.path, a.status, brief(a.text))
		}
	}
	return nil
}

// decoys are the requests that make the tested site and fill the default one.
func decoys() []request {
	const put, post = http.MethodPut, http.MethodPost
	requests := []request{{method: put, path: below(), body: "{}"}}
	for i, names := range [][]string{{"w", "w1", "w2"}, {"g", "left"}, {"right", "b1"}, {"a", "b"}, {"s", "w0"}, {"new"}} {
		documents := ""
		if i == 0 {
			documents = dataSchema("acme/Widget/v1", "{type: object, required: ["+decoy+"]}") + layeringPolicy("lp")
		}
		for _, name := range names {
			documents += docWith("acme/Widget/v1", name, "{size: 1000, text: "+decoy+"}", labelled("a: "+decoy)) //nolint:perfsprint // few
		}
		documents += passphrase([]string{"pw", "s", "s1", "s2", "pw1", "pw2"}[i], decoy)
		bucket := []string{"mop", "site", "a", "b", "c", "secrets"}[i]
		requests = append(requests, request{method: put, path: "buckets/" + bucket + "/documents", body: documents})
	}
	return append(requests,
		request{method: post, path: "revisions/1/tags/t", body: "{by: " + decoy + "}"},
		request{method: post, path: "revisions/2/tags/site", body: "{by: " + decoy + "}"},
		request{
			method: post, path: "revisions/1/validations/a-validation",
			body: "{status: failure, validator: {name: " + decoy + ", version: '1'}}",
		},
		request{
			method: post, path: "revisions/6/validations/b-validation",
			body: "{status: failure, validator: {name: " + decoy + ", version: '1'}}",
		},
	)
}
