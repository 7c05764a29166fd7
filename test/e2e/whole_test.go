package e2e_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	fitting   = "deckhand-policy-validation"
	rendering = "deckhand-rendering-validation"
)

// statuses returns the statuses of a revision's validations, by name.
func (s *server) statuses(t *testing.T, revision string) map[string]string {
	t.Helper()
	statuses := map[string]string{}
	for _, item := range s.get(t, "revisions/"+revision+"/validations").results(t) {
		validation, _ := item.(map[string]any)
		statuses[fmt.Sprint(validation["name"])] = fmt.Sprint(validation["status"])
	}
	return statuses
}

// schemasOnly makes only the schema validation count for revisions without a policy.
const schemasOnly = "--default-validations=deckhand-schema-validation"

// Without a policy, all of the server's own validations count. A LayeringPolicy is only required if a document has a
// layer.
func TestWhole_default(t *testing.T) {
	t.Parallel()
	s := start(t)
	const flat = "---\nschema: acme/Flat/v1\nmetadata: {schema: metadata/Control/v1, name: flat}\ndata: {}\n"
	names := func(reported string) string {
		return "reported: " + fitting + "=" + reported + " " + rendering + "=" + reported + " " + own + "=success"
	}
	for i, c := range []struct{ bucket, body, want string }{
		{"flat", flat, "success; " + names("success")},
		{"site", widget("w", "{}"), "failure; " + names("failure")},
		{"policy", layeringPolicy("lp"), "success; " + names("success")},
		{"site", docWith("acme/Widget/v1", "w", "{}", substitution(".x")), "failure; " + names("failure")},
		{"site", policy("ready", own) + docWith("acme/Widget/v1", "w", "{}", substitution(".x")), "success; ready: " + own + "=success"},
		{"site", widget("w", "{}"), "success; " + names("success")},
	} {
		s.put(t, c.bucket, c.body).is(t, http.StatusOK)
		s.isVerdict(t, strconv.Itoa(i+1), c.want)
	}
}

// --default-validations selects the validations that count, and accepts only names of the server's own.
func TestWhole_narrowed(t *testing.T) {
	t.Parallel()
	s := start(t, schemasOnly)
	s.put(t, "site", widget("w", "{}")).is(t, http.StatusOK)
	s.isVerdict(t, "1", "success; reported: "+own+"=success")
	said, err := command(t, "serve", "--default-validations", "a-validation")
	if err == nil || !strings.Contains(said, `"a-validation" is not one of the server's own validations`) {
		t.Errorf("%v\n%s", err, said)
	}
}

// The validations of a whole revision are performed if a policy lists them.
func TestWhole_asked(t *testing.T) {
	t.Parallel()
	s := start(t, schemasOnly)
	s.put(t, "site", layeringPolicy("lp")+widget("w1", "{}"))
	own := map[string]string{"deckhand-schema-validation": "success"}
	if diff := cmp.Diff(own, s.statuses(t, "1")); diff != "" {
		t.Errorf("without a policy (-want +got)\n%s", diff)
	}
	s.put(t, "policies", policy("p", "deckhand-schema-validation", fitting, rendering))
	own[fitting], own[rendering] = "success", "success"
	if diff := cmp.Diff(own, s.statuses(t, "2")); diff != "" {
		t.Errorf("with a policy (-want +got)\n%s", diff)
	}
	s.get(t, "revisions/2/status?expect=success").is(t, http.StatusOK)
	s.put(t, "policies", "")
	if diff := cmp.Diff(map[string]string{"deckhand-schema-validation": "success"}, s.statuses(t, "3")); diff != "" {
		t.Errorf("after the policy went (-want +got)\n%s", diff)
	}
	s.send(t, request{
		method: http.MethodPost, path: "revisions/2/validations/" + fitting, header: yamlBody(), bad: true,
		body: "{status: success, validator: {name: me}}",
	}).fails(t, http.StatusForbidden, "HTTPForbidden")
}

// wholeCase is a set of documents with the expected findings.
type wholeCase struct {
	documents             string
	fits, renders         string
	fitError, renderError string
}

// Documents that contradict each other or cannot be rendered fail the revision, with findings that name documents and
// reasons. A dry run predicts them. Any correction makes the next revision pass.
func TestWhole_findings(t *testing.T) {
	t.Parallel()
	// in replaces a widget's layer with another layeringDefinition.
	in := func(layering string) string { return strings.Replace(widget("w1", "{}"), "layer: site", layering, 1) }
	const orphan = "layer: site, parentSelector: {k: none}, actions: [{method: merge, path: .}]"
	from := func(source string) string {
		return docWith("acme/Widget/v1", "w2", "{}", ", substitutions: [{src: {schema: acme/Widget/v1, name: "+source+
			", path: .y}, dest: {path: .x}}]")
	}
	layers := layeringPolicy("lp")
	const noPolicy, oddLayer, cycle = "Required LayeringPolicy", "for document [acme/Widget/v1] w1", "dependency cycle"
	const noSource = "[acme/Widget/v1] none was not found"
	failing := func(documents, message string) wholeCase {
		return wholeCase{documents, "failure", "failure", message, message}
	}
	asking := policy("p", fitting, rendering)
	for name, c := range map[string]wholeCase{
		"no policy":      failing(widget("w1", "{}"), noPolicy),
		"unknown layer":  failing(layers+in("layer: odd"), oddLayer),
		"missing source": failing(layers+from("none"), noSource),
		"cycle":          failing(layers+from("w2"), cycle),
		"orphan": {
			layers + in(orphan), "failure", "success", "selects no document", "",
		},
		"rendered badly": {
			layers + dataSchema("acme/Widget/v1", "{properties: {x: {type: string}}}") + widget("w1", "{y: 7}") + from("w1"),
			"success", "failure", "", "7 is not of type 'string'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.put(t, "policies", asking)
			dry := s.send(t, request{
				method: http.MethodPut, path: "buckets/site/documents?dry-run=true", body: c.documents, header: yamlBody(),
			})
			s.put(t, "site", c.documents).is(t, http.StatusOK)
			got := s.statuses(t, "2")
			want := map[string]string{
				"deckhand-schema-validation": "ignored [success]", fitting: c.fits, rendering: c.renders,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for validation, message := range map[string]string{fitting: c.fitError, rendering: c.renderError} {
				text := s.get(t, "revisions/2/validations/"+validation+"/entries/0").text
				if message != "" && (!strings.Contains(text, message) || !strings.Contains(dry.text, message)) {
					t.Errorf("%s does not say %q:\n%s\nthe dry run said:\n%s", validation, message, text, dry.text)
				}
				for _, form := range []string{"text/plain", "application/json", "application/x-yaml"} {
					if status := s.get(t, "revisions/2/status", "Accept", form).text; !strings.Contains(status, message) {
						t.Errorf("the status as %s does not say %q:\n%s", form, message, status)
					}
				}
			}
			s.put(t, "site", layeringPolicy("lp")+widget("w1", "{}"))
			s.get(t, "revisions/latest/status?expect=success").is(t, http.StatusOK)
		})
	}
}

// With --compat=deckhand a selector that selects nothing is only a warning: Deckhand renders such documents.
func TestWhole_orphanInCompat(t *testing.T) {
	t.Parallel()
	s := start(t, "--compat=deckhand")
	s.put(t, "site", layeringPolicy("lp")+policy("p", fitting, rendering)+under("k: none", "site", widget("w", "{}"), "merge .")).is(t, http.StatusOK)
	want := map[string]string{"deckhand-schema-validation": "ignored [success]", fitting: "success", rendering: "success"}
	if diff := cmp.Diff(want, s.statuses(t, "1")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	found, _ := s.get(t, "revisions/1/findings").is(t, http.StatusOK).mapping(t)["findings"].([]any)
	if text := fmt.Sprint(found...); !strings.Contains(text, "selects no document") || !strings.Contains(text, "level:warning") {
		t.Errorf("the findings are %s", text)
	}
}
