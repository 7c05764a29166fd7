package e2e_test

import (
	"archive/zip"
	"bytes"
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/store/storetest"
)

// importing imports a site from a file.
func importing(t *testing.T, file []byte, args ...string) (said string, err error) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := invoke(ctx, path, append([]string{"site", "import"}, args...)...)
	cmd.Stdin = bytes.NewReader(file)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// A site moves from one database with a server to another one with a server: all requests are answered as before, and
// it goes on there, with its secrets (docs/sites.md).
func TestMoveSite(t *testing.T) {
	t.Parallel()
	keyset := newKeyset(t)
	flags := []string{"--secrets-keyset", keyset, "--webhook-allow", "*.example"}
	from, to := startFresh(t, flags...), startFresh(t, flags...)
	from.put(t, "policies", layeringPolicy("lp")+sizes()+policy("p", "a-validation")).is(t, http.StatusOK)
	from.put(t, "secrets", passphrase("pw", "hunter2")).is(t, http.StatusOK)
	from.put(t, "site", docWith("acme/Widget/v1", "w", "{size: 1}", substitutes(fromPassphrase("{path: .password}")))).is(t, http.StatusOK)
	from.report(t, 3, "a-validation", "success")
	from.post(t, "revisions/3/tags/good", "{by: alice, builds: [17, 18]}").is(t, http.StatusCreated)
	from.tag(t, 3, "later")
	from.send(t, request{
		method: http.MethodPut, path: "buckets/packages/packages/com.acme.Lib", body: muranoLibrary(t, "com.acme.Lib"),
		header: map[string]string{"Content-Type": "application/zip"},
	}).is(t, http.StatusOK)
	from.put(t, "overrides", override("motd", "{configuration: {file: {/etc/motd: {content: b, mode: 7}}}}", labelled("node: cmp-1"))).
		is(t, http.StatusOK)
	from.put(t, "site", widget("w", "{size: 1000}")).is(t, http.StatusOK)
	from.post(t, "revisions/6/waivers", "{validation: a-validation, reason: known, for: P1D}").is(t, http.StatusCreated)
	from.post(t, "webhooks", "{url: 'https://a.example', types: [purser.tag.set]}").is(t, http.StatusCreated)
	from.get(t, "claims").is(t, http.StatusOK)
	before := allAnswers(t, from)

	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd := invoke(t.Context(), path, "site", "export", "default", "--database-url", from.database)
	cmd.Stderr = &said
	file, err := cmd.Output()
	if err != nil || !strings.Contains(said.String(), "is not archived") || !strings.Contains(said.String(), "revisions") {
		t.Fatalf("%v\n%s", err, said.String())
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"another keyset":  {[]string{"default", "--secrets-keyset", newKeyset(t)}, "keys that this keyset does not have"},
		"no keyset":       {[]string{"default"}, "name the keyset of the source with --secrets-keyset"},
		"another site":    {[]string{"bos1", "--secrets-keyset", keyset}, `it is of the site "default", not of "bos1"`},
		"no name":         {[]string{"No One"}, "is not the name of a site"},
		"one that exists": {[]string{"default", "--secrets-keyset", keyset, "--database-url", from.database}, "is not empty"},
	} {
		args := append([]string{"--database-url", to.database}, c.args...)
		if said, err := importing(t, file, args...); err == nil || !strings.Contains(said, c.want) ||
			!strings.HasSuffix(said, "nothing was imported\n") {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
	text, err := importing(t, file, "default", "--database-url", to.database, "--secrets-keyset", keyset)
	if err != nil || !strings.Contains(text, "imported the site default") {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(before, allAnswers(t, to)); diff != "" {
		t.Errorf("before and after (-want +got):\n%s", diff)
	}
	if audit := to.get(t, "audit").text; !strings.Contains(audit, "/sites/default#documents=8&imported=2") {
		t.Errorf("the audit of the default site: %s", audit)
	}
	to.put(t, "site", widget("w", "{size: 2}")).isNames(t, "w@7")
	to.report(t, 7, "a-validation", "failure")
	to.rollback(t, "3").is(t, http.StatusCreated)
	to.prune(t).is(t, http.StatusOK)
	if got := to.get(t, "revisions/latest/rendered-documents").is(t, http.StatusOK).text; !strings.Contains(got, "password: hunter2") {
		t.Errorf("the secret is not in the newest revision:\n%s", got)
	}
}

// muranoLibrary returns the archive of a package with one class.
func muranoLibrary(t *testing.T, name string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, file := range [][2]string{
		{"manifest.yaml", "Format: MuranoPL/1.4\nType: Library\nFullName: " + name + "\nVersion: 1.0.0\nDescription: x\n" +
			"Classes: {" + name + ": A.yaml}\n"},
		{"LICENSE", ""},
		{"Classes/A.yaml", "Name: " + name + "\n"},
	} {
		part, err := w.Create(file[0])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write([]byte(file[1])) // a buffer returns no error
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// allAnswers returns the answers of a site to requests of all kinds, without its server's address.
func allAnswers(t *testing.T, s *server) map[string]string {
	t.Helper()
	answers := s.withoutURL(t)
	for _, path := range []string{
		"buckets", "events?since=0", "webhooks", "claims", "waivers",
		"revisions/6/diff/3", "revisions/3/deepdiff/6", "revisions/6/findings", "revisions/6/waivers",
		"revisions/3/chain", "revisions/6/chain", "revisions/3/schemas", "revisions/3/graph", "documents/acme/Widget/v1/site/w/history",
		"revisions/3/tags", "revisions/3/tags/good", "revisions/3/tags/later", "revisions/5/packages",
		"revisions/5/packages/com.acme.Lib", "revisions/5/packages/com.acme.Lib/report", "revisions/5/puppet/hiera",
		"revisions/5/puppet/hiera.yaml?node=cmp-1", "revisions/5/puppet/hiera.json", "revisions/5/puppet/diff/4",
		"revisions/5/validations/" + overridesCheck,
		"revisions/3/validations/a-validation", "revisions/latest", "revisions/latest/status", "/sites/default",
	} {
		got := s.get(t, path)
		answers[path] = strings.ReplaceAll(got.text, s.url, "")
		if got.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, got.status, got.text)
		}
	}
	return answers
}

// An export that cannot be made says why, and ends with 1.
func TestMoveSite_fails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ database, want string }{
		"unknown site":  {storetest.URL(t), "There is no site atl1"},
		"not migrated":  {storetest.Empty(t), "run `purser-server migrate` first"},
		"no connection": {"postgres://nobody@127.0.0.1:1/none", "127.0.0.1:1"},
	} {
		said, err := command(t, "site", "export", "atl1", "--database-url", c.database, "--database-wait", "0s")
		failed, isExit := err.(*exec.ExitError) //nolint:errorlint // it is that itself
		if !isExit || failed.ExitCode() != 1 || !strings.Contains(said, c.want) {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
	dir := t.TempDir()
	said, err := importing(t, nil, "atl1", "--state-dir", filepath.Join(dir, "none"), "--database-url", storetest.URL(t),
		"--secrets-keyset", filepath.Join(dir, "none.json"))
	if err == nil || !strings.Contains(said, "none.json") {
		t.Errorf("%v\n%s", err, said)
	}
}
