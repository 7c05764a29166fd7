package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// warned returns the warnings in the status of a revision, which must be the same as text and as YAML.
func (s site) warned(t *testing.T, revision string) []string {
	t.Helper()
	asText := []string{}
	for line := range strings.Lines(s.get(t, "revisions/"+revision+"/status", "Accept", "text/plain").is(t, http.StatusOK).text) {
		if warning, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "warning: "); ok && !strings.Contains(warning, "no DataSchema: ") {
			asText = append(asText, warning)
		}
	}
	asYAML := []string{}
	list, _ := s.get(t, "revisions/"+revision+"/status").is(t, http.StatusOK).mapping(t)["warnings"].([]any)
	for _, warning := range list {
		if text, _ := warning.(string); !strings.Contains(text, "no DataSchema: ") {
			asYAML = append(asYAML, text)
		}
	}
	if diff := cmp.Diff(asText, asYAML); diff != "" {
		t.Errorf("the warnings of revision %s (-text +YAML)\n%s", revision, diff)
	}
	return asYAML
}

// isWarned checks the warnings of a revision, in its status and in its findings.
func (s site) isWarned(t *testing.T, revision string, want ...string) {
	t.Helper()
	isDangling := func(text string) bool { return strings.HasPrefix(text, dangling) } // one of real sites
	if diff := cmp.Diff(append([]string{}, want...), slices.DeleteFunc(s.warned(t, revision), isDangling)); diff != "" {
		t.Errorf("the warnings of revision %s (-want +got)\n%s", revision, diff)
	}
	found, _ := s.get(t, "revisions/"+revision+"/findings?level=warning&validation="+rendering).is(t, http.StatusOK).mapping(t)["findings"].([]any)
	messages := []string{}
	for _, f := range found {
		finding, _ := f.(map[string]any)
		text, _ := finding["message"].(string)
		messages = append(messages, text)
	}
	if diff := cmp.Diff(append([]string{}, want...), slices.DeleteFunc(messages, isDangling)); diff != "" {
		t.Errorf("the findings of revision %s (-want +got)\n%s", revision, diff)
	}
}

const (
	dangling = "A reference in the DataSchema "
	orphaned = "The parentSelector of document [acme/Widget/v1, site] w selects no document, so it inherits nothing"
	unwanted = "The pattern 'NAME' is not in the text at .t of document [acme/Widget/v1, site] w, so substitution 1, from " +
		"document [acme/Secret/v1, site] s, changes nothing"
	allTaken = "The pattern '^(.*):(.*)$' matches nothing in the text at .v of document [acme/Secret/v1, site] s, so " +
		"substitution 1 of document [acme/Widget/v1, site] w takes all of it"
)

// Likely mistakes that fail nothing are warnings in the status, findings, entries and answers of dry runs.
func TestWarnings(t *testing.T) {
	t.Parallel()
	site := func(metadata, data string) string {
		return layeringPolicy("lp") + secret("s", "{v: a-value}") + docWith("acme/Widget/v1", "w", data, metadata)
	}
	unfound := substitutes(from("s", ".v", "{path: .t, pattern: NAME}"))
	both := policy("ready", fitting, rendering)
	for name, c := range map[string]struct {
		documents string
		want      []string
		rule      string
	}{
		"nothing":               {site(substitutes(from("s", ".v", "{path: .t, pattern: NAME}")), "{t: NAME}"), nil, ""},
		"a pattern":             {site(unfound, "{t: OTHER}"), []string{unwanted}, "DocumentPatternNotFound"},
		"a pattern, required":   {both + site(unfound, "{t: OTHER}"), []string{unwanted}, "DocumentPatternNotFound"},
		"a source's pattern":    {site(substitutes("{src: {schema: acme/Secret/v1, name: s, path: .v, pattern: '^(.*):(.*)$', match_group: 1}, dest: {path: .t}}"), "{}"), []string{allTaken}, "SourcePatternNotFound"},
		"a selector":            {policy("ready", rendering) + layeringPolicy("lp") + under("k: v", "site", widget("w", "{}"), "merge ."), []string{orphaned}, "DocumentParentNotFound"},
		"besides a failure":     {sizes() + policy("ready", rendering) + site(unfound, "{t: OTHER, size: 177}"), []string{unwanted}, "DocumentPatternNotFound"},
		"of a validation apart": {policy("ready", own) + site(unfound, "{t: OTHER}"), nil, ""},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			dry := s.do(t, http.MethodPut, "buckets/site/documents?dry-run=true", c.documents, inYAML...)
			s.put(t, "site", c.documents).is(t, http.StatusOK)
			s.isWarned(t, "1", c.want...)
			status := s.get(t, "revisions/1/status").is(t, http.StatusOK).mapping(t)
			if diff := cmp.Diff(status["warnings"], dry.is(t, http.StatusOK).mapping(t)["warnings"]); diff != "" {
				t.Errorf("in the status, in the dry run:\n%s", diff)
			}
			want := "success"
			if strings.HasPrefix(name, "besides") {
				want = "failure"
			}
			if got, _ := s.get(t, "revisions/1/status").mapping(t)["status"].(string); got != want {
				t.Errorf("status %s, want %s", got, want)
			}
			if len(c.want) == 0 {
				return
			}
			found, _ := s.get(t, "revisions/1/findings?level=warning&document=w").mapping(t)["findings"].([]any)
			finding, _ := found[0].(map[string]any)
			if about, _ := finding["document"].(map[string]any); finding["rule"] != c.rule || about["name"] != "w" || finding["advice"] == nil {
				t.Errorf("finding %v", finding)
			}
			entry := s.get(t, "revisions/1/validations/"+rendering+"/entries/0").is(t, http.StatusOK).mapping(t)
			notes := []any{map[string]any{"level": "Warning", "message": c.want[0]}}
			if diff := cmp.Diff(notes, entry["notes"]); diff != "" {
				t.Errorf("notes of the entry (-want +got)\n%s", diff)
			}
			errs, _ := entry["errors"].([]any)
			if entry["status"] != want || want == "success" && len(errs) > 0 {
				t.Errorf("entry %v", entry)
			}
		})
	}
}

// A selector that selects nothing is a failure, and not also a warning, if the validation of relations between
// documents counts.
func TestWarnings_orphanFails(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "site", layeringPolicy("lp")+under("k: v", "site", widget("w", "{}"), "merge .")).is(t, http.StatusOK)
	want := "failure\n" + unguarded + "\n" + fitting + ": failure\nwarning: 1 document has no DataSchema: acme/Widget/v1 (1)\n" +
		"[acme/Widget/v1, site] w: " + orphaned + "\n"
	if got := s.get(t, "revisions/1/status", "Accept", "text/plain").text; got != want {
		t.Errorf("status\n%s\nwant\n%s", got, want)
	}
	const uncovered = "[acme/Widget/v1, site] w: No DataSchema is named acme/Widget/v1 (1 document) (warning)\n"
	if got := s.get(t, "revisions/1/findings?level=warning", "Accept", "text/plain").text; got != uncovered {
		t.Errorf("findings %q", got)
	}
}

// With --compat=deckhand, answers have no warnings, and refusals have no details.
func TestWarnings_compat(t *testing.T) {
	t.Parallel()
	s := compatSite(t)
	s.put(t, "site", policy("ready", rendering, "a-validation")+layeringPolicy("lp")+secret("s", "{v: a-value}")+
		docWith("acme/Widget/v1", "w", "{t: OTHER}", substitutes(from("s", ".v", "{path: .t, pattern: NAME}")))).is(t, http.StatusOK)
	s.isWarned(t, "1")
	if entry := s.get(t, "revisions/1/validations/"+rendering+"/entries/0").is(t, http.StatusOK).mapping(t); entry["notes"] != nil || len(entry["errors"].([]any)) > 0 {
		t.Errorf("entry %v", entry)
	}
	if got := s.post(t, "revisions/1/validations/a-validaton", "{status: success, validator: x}").is(t, http.StatusCreated).text; strings.Contains(got, "warning") {
		t.Errorf("posted: %s", got)
	}
	s.put(t, "site", layeringPolicy("lp")+abstract(secret("s", "{v: 1}"))+docWith("acme/Widget/v1", "w", "{}", substitutes(from("s", ".v", "{path: .x}")))).is(t, http.StatusOK)
	refused := s.get(t, "revisions/2/rendered-documents")
	if refused.isFault(t, http.StatusConflict, "SubstitutionSourceNotFound"); strings.Contains(refused.text, "abstract") {
		t.Errorf("refused: %s", refused.text)
	}
}

// The answer to a result whose name no policy lists has a warning.
func TestPostValidation_unlisted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	post := func(revision, name string) any {
		t.Helper()
		return s.post(t, "revisions/"+revision+"/validations/"+name, "{status: success, validator: x}").is(t, http.StatusCreated).mapping(t)["warning"]
	}
	s.put(t, "site", layeringPolicy("lp")+widget("w", "{}")).is(t, http.StatusOK)
	s.put(t, "policy", policy("ready", own, "drydock-site-validation")).is(t, http.StatusOK)
	const ignored = "No ValidationPolicy of the revision lists drydock-site-validaton, so its results are ignored; " +
		"did you mean drydock-site-validation?"
	got := []any{
		post("1", "drydock-site-validaton"), post("2", "drydock-site-validaton"), post("2", "drydock-site-validation"), post("2", "other"),
	}
	want := []any{nil, ignored, nil, "No ValidationPolicy of the revision lists other, so its results are ignored"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got)\n%s", diff)
	}
	lost := s.post(t, "revisions/2/validations/drydock-site-validation", "{status: success, validator: x, error: [e]}").is(t, http.StatusCreated).mapping(t)["warning"]
	if want := `The key "error" of a result has no meaning, and was not kept; did you mean errors?`; lost != want {
		t.Errorf("warning %v, want %s", lost, want)
	}
	s.post(t, "revisions/2/validations/deckhand-schema-validaton", "{status: success, validator: x}").
		isFault(t, http.StatusForbidden, "HTTPForbidden", "performed by the server")
}

// Typical mistakes in real sites are reported. The sites themselves have no warnings except for the one mistake that
// they contain.
func TestWarnings_sites(t *testing.T) {
	t.Parallel()
	const twice = "The pattern 'HOSTNAME' is not in the text at .certificate_authorities.kubernetes.certificates[1].common_name of document " +
		"[promenade/PKICatalog/v1, site] cluster-certificates, so substitution 4, from document [dev/Configurables/v1, site] " +
		"dev-configurables, changes nothing"
	for name, c := range map[string]struct{ site, old, replacement, want, failure string }{
		"airskiff": {site: "tm19-airskiff"},
		"airsloop": {site: "tm19-airsloop"},
		"aiab":     {site: "aiab-demo", want: twice},
		"a pattern": {
			site: "tm19-airsloop", old: "pattern: CIRROS_IMAGE_LOCATION", replacement: "pattern: CIRROS_IMAGE_LOCATON",
			want: "The pattern 'CIRROS_IMAGE_LOCATON' is not in any text that is looked at below .values.conf.rally_tests.tests of document " +
				"[armada/Chart/v1, global] glance, so substitution 20, from document [pegleg/SoftwareVersions/v1, global] software-versions, changes nothing",
		},
		"a selector": {
			site: "tm19-airsloop", old: "      name: tenant-ceph-client-global\n    actions", replacement: "      name: tenant-ceph-client-globl\n    actions",
			failure: "[armada/Chart/v1, type] tenant-ceph-client: The parentSelector of document [armada/Chart/v1, type] tenant-ceph-client selects no document, so it inherits nothing",
		},
		"an abstract source": {
			site: "tm19-airsloop", old: "  name: common-addresses\n  layeringDefinition:\n    abstract: false", replacement: "  name: common-addresses\n  layeringDefinition:\n    abstract: true",
			failure: "is abstract, and only concrete documents are sources",
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			body := realSite(t, c.site, c.old, c.replacement)
			s := sealedSite(t)
			s.put(t, "site", body).is(t, http.StatusOK)
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			s.isWarned(t, "1", want...)
			status := s.get(t, "revisions/1/status", "Accept", "text/plain").text
			if c.failure == "" && !strings.HasPrefix(status, "success\n") || c.failure != "" && !strings.Contains(status, c.failure) {
				t.Errorf("status %s", status)
			}
			if c.failure != "" && (!strings.HasPrefix(status, "failure\n") || !strings.Contains(status, fitting+": failure")) {
				t.Errorf("status %s", status)
			}
			if strings.Contains(status, dangling) != strings.Contains(body, "#/definitions/url") || strings.Contains(status, "Not checked") {
				t.Errorf("status %s", status)
			}
		})
	}
}

// realSite returns the documents of a real site with a replacement, or none if the shared folder is not available.
func realSite(t *testing.T, name, old, replacement string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "corpus", name, "documents.yaml"))
	if err != nil {
		t.Skip(err)
	}
	if old != "" && strings.Count(string(text), old) != 1 {
		t.Fatalf("%q is not once in %s", old, name)
	}
	return strings.Replace(string(text), old, replacement, 1)
}
