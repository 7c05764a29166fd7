package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Callers who may not see a secret do not learn whether a pattern matches it, or text that contains it.
func TestWarnings_secret(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	site := func(value string) string {
		taken := strings.Replace(fromPassphrase("{path: .a}"), "path: .}", "path: ., pattern: '^(.*):(.*)$', match_group: 1}", 1)
		return layeringPolicy("lp") + validationsOf() + passphrase("pw", value) + secret("s", "{v: a-value}") +
			docWith("acme/Widget/v1", "w", "{}", substitutes(taken, fromPassphrase("{path: .t}"), from("s", ".v", "{path: .t, pattern: ':'}"))) +
			docWith("acme/Widget/v1", "open", "{t: TEXT}", substitutes(from("s", ".v", "{path: .t, pattern: NAME}")))
	}
	const open = "The pattern 'NAME' is not in the text at .t of document [acme/Widget/v1, site] open"
	asked := func(user, value string) (answers []string) {
		g.empties(t)
		ask := func(method, path, body string, header ...string) {
			t.Helper()
			a := g.by(t, user, method, path, body, header...)
			if a.status >= http.StatusBadRequest {
				t.Fatalf("%s: %s %s: %d\n%s", user, method, path, a.status, a.text)
			}
			answers = append(answers, g.plain(a))
		}
		g.puts(t, "admin", "site", site(value)).is(t, http.StatusOK)
		for _, path := range []string{"status", "findings", "findings?level=warning", "validations/detail", "validations", "validations/" + rendering + "/entries/0"} {
			ask(http.MethodGet, "revisions/1/"+path, "")
			if !strings.HasPrefix(path, "validations") {
				ask(http.MethodGet, "revisions/1/"+path, "", "Accept", "text/plain")
			}
		}
		return answers
	}
	with, without := asked("reader", "user:password"), asked("reader", "userpassword")
	if diff := cmp.Diff(with, without); diff != "" {
		t.Errorf("the reader is told whether the pattern is in the secret (-with +without)\n%s", diff)
	}
	if !strings.Contains(with[1], open) || strings.Contains(with[1], "depend on encrypted") {
		t.Errorf("the reader's status:\n%s", with[1])
	}
	const more = "Some warnings depend on encrypted documents; the findings list them"
	admin := asked("admin", "userpassword")
	for i, parts := range map[int][]string{1: {open, more}, 3: {open, "takes all of it", "The pattern ':' is not in the text at .t"}} {
		for _, part := range parts {
			if !strings.Contains(admin[i], part) {
				t.Errorf("the admin is not told %q:\n%s", part, admin[i])
			}
		}
	}
	if admin = asked("admin", "user:password"); strings.Contains(strings.Join(admin, ""), "takes all of it") || strings.Contains(admin[0], more) {
		t.Errorf("a pattern that is found:\n%s", admin[0])
	}
}
