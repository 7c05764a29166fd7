package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// A document without a DataSchema in force causes a warning, or a failure if a policy lists that validation.
func TestCoverage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	node := dataSchema("acme/BaremetalNode/v1", "{type: object}")
	s.put(t, "site", layeringPolicy("lp")+node+doc("acme/BaremetalNod/v1", "n1", "{}")).is(t, http.StatusOK)
	const warning = "1 document has no DataSchema: acme/BaremetalNod/v1 (1; did you mean acme/BaremetalNode/v1?)"
	if got, want := s.get(t, "revisions/1/status", "Accept", "text/plain").text, "success\n"+unguarded+"\nwarning: "+warning+"\n"; got != want {
		t.Errorf("status %q, want %q", got, want)
	}
	if got := s.get(t, "revisions/1/status").is(t, http.StatusOK).text; !strings.Contains(got, warning) {
		t.Errorf("the status has no warning:\n%s", got)
	}
	dryRun := s.do(t, http.MethodPut, "buckets/other/documents?dry-run=true", doc("acme/Other/v1", "o1", "{}"), inYAML...).is(t, http.StatusOK).text
	if want := "2 documents have no DataSchema: acme/BaremetalNod/v1 (1; did you mean acme/BaremetalNode/v1?), " +
		"acme/Other/v1 (1)"; !strings.Contains(dryRun, want) {
		t.Errorf("the dry run does not say %q:\n%s", want, dryRun)
	}
	const coverage = "purser-coverage-validation"
	s.put(t, "policy", policy("ready", coverage)).is(t, http.StatusOK)
	s.isVerdict(t, "2", "failure; ready: "+coverage+"=failure; ignored: "+own+"=success")
	if got := s.get(t, "revisions/2/findings", "Accept", "text/plain").text; got !=
		"[acme/BaremetalNod/v1, site] n1: No DataSchema is named acme/BaremetalNod/v1 (1 document; did you mean acme/BaremetalNode/v1?)\n" {
		t.Errorf("findings %q", got)
	}
	s.put(t, "site", layeringPolicy("lp")+node+doc("acme/BaremetalNode/v1", "n1", "{}")).is(t, http.StatusOK)
	s.isVerdict(t, "3", "success; ready: "+coverage+"=success; ignored: "+own+"=success")
	s.post(t, "revisions/3/validations/"+coverage, "{status: success, validator: x}").
		isFault(t, http.StatusForbidden, "HTTPForbidden", "performed by the server")
}
