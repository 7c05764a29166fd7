package e2e_test

import (
	"strings"
	"testing"
)

// A person logs in with a token, works with completions and without flags, and logs out.
func TestPurser_login(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	p := &person{home: t.TempDir(), stdin: "wrong\n"}
	p.run(t, "login", g.url).exits(t, 2, "does not accept this token")
	p.run(t, "whoami").exits(t, 2, "no server is named")
	p.stdin = g.of["admin"] + "\n"
	p.does(t, "config", "add", "lab", g.url)
	p.run(t, "login").exits(t, 0, "Logged in to lab as ", "lab.token")
	p.run(t, "config", "list").exits(t, 0, "*        lab   "+g.url, "file lab.token")
	layers := control("deckhand/LayeringPolicy/v1", "layers", "{layerOrder: [site]}")
	p.writes(t, "site.yaml", layers+widget("one", "1")+widget("two", "1"))
	p.run(t, "push", "site", "site.yaml", "--dry-run", "--detailed-exit-code").exits(t, 2, "Would be revision 1")
	p.does(t, "push", "site", "site.yaml")
	p.run(t, "push", "site", "site.yaml", "--dry-run", "--detailed-exit-code").exits(t, 0, "Nothing would change")
	p.writes(t, "site.yaml", layers+widget("one", "2")+widget("two", "2"))
	p.does(t, "push", "site", "site.yaml")
	p.does(t, "tag", "good", "1")
	p.run(t, "diff", "1", "--exit-code", "--stat", "--", "two").exits(t, 1, "acme/Widget/v1, site] two | +1 -1\n1 document: ")
	p.run(t, "diff", "1", "-o", "json-patch", "--", "acme/Widget/v1/two").exits(t, 0, `"name":"two"`, `"path":"/data"`)
	p.run(t, "diff", "2", "--exit-code").exits(t, 0)
	for words, want := range map[string]string{
		"push":                         "site",
		"diff":                         "1 2 latest latest~1 tag:good",
		"tag":                          "good",
		"explain":                      "acme/Widget/v1/one acme/Widget/v1/two deckhand/LayeringPolicy/v1/layers",
		"show --schema":                "acme/Widget/v1 deckhand/LayeringPolicy/v1",
		"show --layer":                 "site",
		"log --document":               "acme/Widget/v1/one acme/Widget/v1/two deckhand/LayeringPolicy/v1/layers",
		"graph --focus":                "layers one two",
		"config use":                   "lab",
		"push --server " + g.url + " ": "", // without a token
	} {
		args := append([]string{"complete-values"}, append(strings.Fields(words), "")...)
		if got := strings.Join(strings.Fields(p.does(t, args...)), " "); got != want {
			t.Errorf("purser %s is completed by %q, want %q", words, got, want)
		}
	}
	p.run(t, "logout").exits(t, 0, "Deleted the token of lab")
	p.run(t, "whoami").exits(t, 2, "Set PURSER_TOKEN")
}
