package e2e_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// varying matches times and stamps of revisions, which differ between equivalent answers.
var varying = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z?|stamp"?: ?"?[0-9a-f]+|stamp=[0-9a-f]+|chain"?: ?['"]?[0-9a-f]+['"]?`)

// plain returns the text of an answer without the parts that differ between servers and times.
func (g guarded) plain(a answer) string {
	var said strings.Builder
	fmt.Fprintf(&said, "%s %s: %d\n", a.method, a.path, a.status)
	var names []string
	for name := range a.got {
		if !slices.Contains([]string{"Date", "Last-Modified", "X-Deckhand-Req", "Etag", "Content-Length"}, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&said, "%s: %s\n", name, strings.Join(a.got[name], ", "))
	}
	return varying.ReplaceAllString(strings.ReplaceAll(said.String()+a.text, g.url, "http://server"), "*")
}

// Callers who may store encrypted documents but not see them cannot discover secrets by storing guesses: right and
// wrong guesses get the same answers.
func TestSecrets_guesses(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	site := func(secret string) string {
		return passphrase("pw", secret) + encrypted(doc("acme/Key/v1", "key", fmt.Sprintf("{a: %q}", secret)))
	}
	play := func(secret, guess string) (answers []string) {
		g.empties(t)
		ask := func(method, path, body string) {
			t.Helper()
			answers = append(answers, g.plain(g.by(t, "creator", method, path, body)))
		}
		const bucket = "buckets/site/documents"
		g.puts(t, "admin", "else", layeringPolicy("lp")+validationsOf()).is(t, http.StatusOK)
		g.puts(t, "admin", "site", site(secret)).is(t, http.StatusOK)
		ask(http.MethodPut, bucket+"?dry-run=true", site(guess))
		ask(http.MethodPut, "changesets?dry-run=true&buckets=site", "")
		ask(http.MethodPut, bucket, site(guess))
		ask(http.MethodPost, "rollback/2?dry-run=true", "")
		ask(http.MethodPost, "rollback/2", "")
		ask(http.MethodPut, bucket, site(guess))
		for _, revision := range []string{"3", "4", "5"} {
			for _, path := range []string{"", "/documents", "/rendered-documents", "/validations/detail", "/status", "/graph"} {
				ask(http.MethodGet, "revisions/"+revision+path, "")
			}
			for _, other := range []string{"2", "3", "4"} {
				for _, path := range []string{"/diff/", "/deepdiff/"} {
					ask(http.MethodGet, "revisions/"+revision+path+other, "")
				}
				ask(http.MethodGet, "revisions/"+revision+"/deepdiff/"+other+"?format=json-patch", "")
				ask(http.MethodGet, "revisions/"+revision+"/deepdiff/"+other+"?format=documents", "")
				ask(http.MethodGet, "revisions/"+revision+"/deepdiff/"+other+"?format=documents&rendered=false", "")
				ask(http.MethodGet, "revisions/"+revision+"/deepdiff/"+other+"?format=unified", "")
			}
		}
		ask(http.MethodGet, "revisions", "")
		return answers
	}
	right, wrong := play("QZXJVKWQ", "QZXJVKWQ"), play("ZXQKJWVZ", "QZXJVKWQ")
	for i := range right {
		if diff := cmp.Diff(right[i], wrong[i]); diff != "" {
			t.Errorf("an answer tells whether the guess was right (-right +wrong):\n%s", diff)
		}
	}
}
