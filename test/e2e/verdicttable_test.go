package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wholeSites returns a site of the tests and the available real ones, by name. Each has a LayeringPolicy, and none has
// ValidationPolicies.
func wholeSites(t *testing.T) map[string]string {
	t.Helper()
	own := layeringPolicy("lp") + inLayer("global", widget("base", "{}")) + docWith("acme/Free/v1", "free", "{}", labelled("a: b"))
	sites := map[string]string{"of the tests": own}
	found := corpus(t)
	for _, path := range found[:min(2, len(found))] {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		documents := slices.DeleteFunc(strings.Split(strings.TrimPrefix(string(text), "---\n"), "\n---\n"), func(document string) bool {
			return strings.Contains(document, "schema: deckhand/ValidationPolicy/v1")
		})
		sites[filepath.Base(filepath.Dir(path))] = "---\n" + strings.Join(documents, "\n---\n") + "\n"
	}
	return sites
}

// withoutLayeringPolicy removes the LayeringPolicy from a site.
func withoutLayeringPolicy(site string) string {
	documents := strings.Split(strings.TrimPrefix(site, "---\n"), "\n---\n")
	return "---\n" + strings.Join(slices.DeleteFunc(documents, func(document string) bool {
		return strings.Contains(document, "schema: deckhand/LayeringPolicy/v1")
	}), "\n---\n") + "\n"
}

// Mistakes in whole sites fail the default validations, which the status and the header report.
func TestMistakes_verdicts(t *testing.T) {
	t.Parallel()
	inSite := func(text string) string {
		return strings.ReplaceAll(text, "layeringDefinition: {layer: site}", "layeringDefinition: {layer: @layer@}")
	}
	three := widget("large", "{size: 177, color: red}") + widget("larger", "{size: 178}")
	schema := dataSchema("acme/Widget/v1", "{properties: {size: {maximum: 100}, color: {enum: [blue]}}}")
	for name, c := range map[string]struct {
		more    string // documents of another bucket
		unruled bool   // without the LayeringPolicy
		header  string
		want    []string // expected lines of the status
	}{
		"no LayeringPolicy": {
			unruled: true, header: "failure; findings=1",
			want: []string{"failure", "deckhand-policy-validation: failure: Required LayeringPolicy was not found", "deckhand-rendering-validation: failure: "},
		},
		"misspelt schema": {
			more: dataSchema("acme/BaremetalNode/v1", "{}") + doc("acme/BaremetalNod/v1", "node", "{}"), header: "success; findings=0",
			want: []string{"success", "acme/BaremetalNod/v1 (1; did you mean acme/BaremetalNode/v1?)"},
		},
		"other validations listed": {
			more: schema + three + policy("ready", "deckhand-policy-validation"), header: "success; findings=3",
			want: []string{
				"success (ignored: deckhand-schema-validation fails for 2 documents)",
				"[acme/Widget/v1, @layer@] large .data.size: 177 is greater than the maximum of 100 (bucket more) (warning)",
			},
		},
		"three violations": {
			more: schema + three, header: "failure; findings=3",
			want: []string{
				"failure", "deckhand-schema-validation: failure", "[acme/Widget/v1, @layer@] large .data.size: 177 is greater than the maximum of 100",
				"[acme/Widget/v1, @layer@] large .data.color: 'red' is not one of ['blue']",
				"[acme/Widget/v1, @layer@] larger .data.size: 178 is greater than the maximum of 100",
			},
		},
	} {
		for title, site := range wholeSites(t) {
			t.Run(name+"/"+title, func(t *testing.T) {
				t.Parallel()
				layer := "site"
				if found := regexp.MustCompile(`(?s)layerOrder:.*?- (\w+)`).FindStringSubmatch(site); found != nil {
					layer = found[1]
				}
				if c.unruled {
					site = withoutLayeringPolicy(site)
				}
				s := start(t)
				last := s.put(t, "site", site).is(t, http.StatusOK)
				before := s.get(t, "revisions/latest/status", "Accept", "text/plain").text
				if c.more != "" {
					last = s.put(t, "more", strings.ReplaceAll(inSite(c.more), "@layer@", layer)).is(t, http.StatusOK)
				}
				if got := last.got.Get("Purser-Status"); got != c.header {
					t.Errorf("Purser-Status: %s, want %s", got, c.header)
				}
				status := s.get(t, "revisions/latest/status", "Accept", "text/plain").is(t, http.StatusOK).text
				for _, want := range c.want {
					want = strings.ReplaceAll(want, "@layer@", layer)
					if !strings.Contains(status, want) {
						t.Errorf("the status does not say %q\n%s\nbefore:\n%s", want, brief(status), brief(before))
					}
				}
				if !strings.HasPrefix(status, c.want[0]+"\n") {
					t.Errorf("the status begins with %q, want %q", brief(status), c.want[0])
				}
				gate := request{method: http.MethodGet, path: "revisions/latest/status?expect=success"}
				wantGate := map[bool]int{true: http.StatusOK, false: http.StatusPreconditionFailed}[strings.HasPrefix(c.want[0], "success")]
				s.send(t, gate).is(t, wantGate)
			})
		}
	}
}
