package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/store/storetest"
)

// script runs one of the project's scripts to its end and returns its output.
func script(t *testing.T, path string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	said, err := exec.CommandContext(ctx, filepath.Join("../..", path), args...).CombinedOutput()
	return string(said), err
}

func mustScript(t *testing.T, path string, args ...string) {
	t.Helper()
	if said, err := script(t, path, args...); err != nil {
		t.Fatalf("%s %q: %v\n%s", path, args, err, said)
	}
}

// withoutURL returns all answers of a server about its revisions, and revision 3 rendered, without the server's
// address.
func (s *server) withoutURL(t *testing.T) map[string]string {
	t.Helper()
	answers := s.everything(t)
	answers["rendered"] = s.get(t, "revisions/3/rendered-documents").is(t, http.StatusOK).text
	for path, text := range answers {
		answers[path] = strings.ReplaceAll(text, s.url, "")
	}
	return answers
}

// A dump that is restored elsewhere has all revisions and, with the keyset, all secrets (docs/backup.md).
//
//nolint:paralleltest,tparallel // one after the other
func TestBackup(t *testing.T) {
	t.Parallel()
	keyset := newKeyset(t)
	s := startFresh(t, "--secrets-keyset", keyset)
	s.put(t, "policies", layeringPolicy("lp")+sizes()+policy("p", "a-validation")).is(t, http.StatusOK)
	s.put(t, "secrets", passphrase("pw", "hunter2")).is(t, http.StatusOK)
	s.put(t, "site", docWith("acme/Widget/v1", "w", "{size: 1}", substitutes(fromPassphrase("{path: .password}"))))
	s.report(t, 3, "a-validation", "success")
	s.tag(t, 3, "good")
	s.put(t, "site", widget("w", "{size: 1000}")).is(t, http.StatusOK)
	before := s.withoutURL(t)
	if !strings.Contains(before["rendered"], "password: hunter2") {
		t.Fatalf("the secret is not in revision 3:\n%s", before["rendered"])
	}

	dump := filepath.Join(t.TempDir(), "purser.dump")
	mustScript(t, "tools/backup", "dump", s.database, dump)
	kept := filepath.Join(t.TempDir(), "keyset.json")
	text, err := os.ReadFile(keyset)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, kept, string(text))
	restored := storetest.Empty(t)
	mustScript(t, "tools/backup", "restore", restored, dump)

	t.Run("with the keyset", func(t *testing.T) {
		second := startOn(t, restored, "--secrets-keyset", kept)
		if diff := cmp.Diff(before, second.withoutURL(t)); diff != "" {
			t.Errorf("before and after (-want +got):\n%s", diff)
		}
		second.put(t, "site", widget("w", "{size: 2}")).isNames(t, "w@5")
	})
	for name, flags := range map[string][]string{
		"with another keyset": {"--secrets-keyset", newKeyset(t)}, "without a keyset": nil,
	} {
		t.Run(name, func(t *testing.T) {
			third := startOn(t, restored, flags...)
			refused := third.get(t, "revisions/3/rendered-documents").is(t, http.StatusServiceUnavailable)
			if !strings.Contains(refused.text, "deckhand/Passphrase/v1, site] pw") {
				t.Errorf("the refusal does not name the document: %s", refused.text)
			}
			got := third.get(t, "revisions/3/documents").is(t, http.StatusOK).text
			if diff := cmp.Diff(before["revisions/3/documents"], got); diff != "" {
				t.Errorf("the stored documents of revision 3 (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a database that is not empty", func(t *testing.T) {
		said, err := script(t, "tools/backup", "restore", s.database, dump)
		if err == nil || !strings.Contains(said, "the database must be an empty one") {
			t.Errorf("%v: %s", err, said)
		}
		if diff := cmp.Diff(before, s.withoutURL(t)); diff != "" {
			t.Errorf("before and after (-want +got):\n%s", diff)
		}
	})
}

// A dump that fails leaves no file that could be mistaken for a valid one.
func TestBackup_fails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	said, err := script(t, "tools/backup", "dump", "postgres://nobody@127.0.0.1:1/none", filepath.Join(dir, "purser.dump"))
	if err == nil || !strings.Contains(said, "127.0.0.1") {
		t.Errorf("%v: %s", err, said)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	said, err = script(t, "tools/backup", "dump")
	if err == nil || !strings.Contains(said, "usage: tools/backup") {
		t.Errorf("%v: %s", err, said)
	}
}

// The documents of a Deckhand, simulated by --compat=deckhand, become one revision here, including secrets.
func TestFromDeckhand(t *testing.T) {
	t.Parallel()
	old := startFresh(t, "--compat=deckhand", "--secrets-keyset", newKeyset(t))
	old.put(t, "policies", layeringPolicy("lp")+sizes()+policy("p", "a-validation")).is(t, http.StatusOK)
	old.put(t, "secrets", passphrase("pw", "hunter2")+encrypted(inLayer("site", doc("acme/Key/v1", "k", "{x: [1, 2]}"))))
	abstract := strings.Replace(passphrase("template", "x"), "layeringDefinition: {", "layeringDefinition: {abstract: true, ", 1)
	old.put(t, "site", docWith("acme/Widget/v1", "w", "{size: 1}", substitutes(fromPassphrase("{path: .password}")))+abstract)

	cmd := exec.CommandContext(t.Context(), "../../tools/from-deckhand", old.url, "3")
	var said bytes.Buffer
	cmd.Stderr = &said
	documents, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	want := "Not rendered, and therefore left out; add what was encrypted:\ndeckhand/Passphrase/v1 template\n"
	if diff := cmp.Diff(want, said.String()); diff != "" {
		t.Errorf("what it says (-want +got):\n%s", diff)
	}
	s := startSealed(t)
	s.changeSet(t, "", string(documents)).is(t, http.StatusOK)
	rendered := func(s *server) map[string]any {
		got := map[string]any{}
		for _, document := range s.get(t, "revisions/latest/rendered-documents").is(t, http.StatusOK).documents(t) {
			status, _ := document["status"].(map[string]any)
			got[fmt.Sprint(status["bucket"], document["schema"], document["metadata"])] = document["data"]
		}
		return got
	}
	if diff := cmp.Diff(rendered(old), rendered(s)); diff != "" {
		t.Errorf("the rendered documents (-old +new):\n%s", diff)
	}
	if text := fmt.Sprint(rendered(s)); !strings.Contains(text, "hunter2") {
		t.Errorf("the secret is not in %s", text)
	}
}

// validator runs the example of docs/validator.md until the end of the test, as a user with a token.
func (s *server) validator(t *testing.T, token string) {
	t.Helper()
	options := filepath.Join(t.TempDir(), "curlrc")
	writeFile(t, options, `header = "X-Auth-Token: `+token+`"`)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "../../examples/validator.sh")
	cmd.Env = append(os.Environ(), "PURSER_URL="+s.url, "PURSER_CURLRC="+options, "INTERVAL=1")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = &said, &said, withParent()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		if t.Failed() {
			t.Logf("what the validator said:\n%s", said.String())
		}
	})
}

// rulesOf returns the policy file in a page of the documentation.
func rulesOf(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", page))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("```yaml\n(\"deckhand:[^`]*)```").FindSubmatch(text)
	if block == nil {
		t.Fatalf("%s shows no policy file", page)
	}
	return string(block[1])
}

// The validator of the examples needs no more rights than its page lists, and decides whether a revision is a success.
func TestValidatorExample(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin", "address-validator")
	s := k.startWith(t, rulesOf(t, "validator.md"))
	put := func(bucket, documents string) {
		t.Helper()
		s.send(t, request{
			method: http.MethodPut, path: "buckets/" + bucket + "/documents", header: k.as("admin"), body: documents,
		}).is(t, http.StatusOK)
	}
	read := func(path string) string {
		header := k.as("admin")
		header["Accept"] = "text/plain"
		return s.send(t, request{method: http.MethodGet, path: path, header: header}).is(t, http.StatusOK).text
	}
	hosts := func(second string) string {
		return inLayer("site", doc("acme/Host/v1", "a", "{address: 10.0.0.1}")+doc("acme/Host/v1", "b", "{address: "+second+"}"))
	}
	put("policies", layeringPolicy("lp")+policy("p", "acme-address-validation"))
	put("site", inLayer("site", doc("acme/Network/v1", "n", "{prefix: 10.0.0.}"))+hosts("10.0.0.2"))
	s.validator(t, k.of["address-validator"])
	eventually(t, "the schema is registered, in revision 3", func() bool {
		header := k.as("admin")
		header["Accept"] = "text/plain"
		got := s.send(t, request{method: http.MethodGet, path: "revisions/3/status", header: header})
		return got.status == http.StatusOK && strings.HasPrefix(got.text, "success")
	})

	for _, c := range []struct{ prefix, address, want string }{
		{"10.0.0.", "10.0.0.1", "[acme/Host/v1, site] b: 10.0.0.1 is the address of a too"},
		{"10.0.0.", "10.0.1.2", "[acme/Host/v1, site] b: 10.0.1.2 is in no network"},
		{"10.0", "10.0.0.2", "[acme/Network/v1, site] n .data.prefix: "},
	} { // work is that of the newest revision
		put("site", inLayer("site", doc("acme/Network/v1", "n", "{prefix: "+c.prefix+"}"))+hosts(c.address))
		eventually(t, c.want, func() bool { return strings.Contains(read("revisions/latest/findings"), c.want) })
	}
}

// The validator in Go waits for work and does it.
func TestValidatorExample_go(t *testing.T) {
	t.Parallel()
	built := filepath.Join(t.TempDir(), "validator")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", built, "../../examples/validator").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := start(t)
	since := s.now(t)
	hosts := func(second string) string {
		return inLayer("site", doc("acme/Host/v1", "a", "{address: 10.0.0.1}")+doc("acme/Host/v1", "b", "{address: "+second+"}"))
	}
	s.put(t, "policies", layeringPolicy("lp")+policy("p", "unique-validation")).is(t, http.StatusOK)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), built, s.url)
	cmd.SysProcAttr = withParent()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	posted := func(n int) {
		t.Helper()
		eventually(t, fmt.Sprint(n, " results"), func() bool {
			return len(s.events(t, "type=purser.validation.posted&since="+since).Events) >= n
		})
	}
	posted(1)
	for i, second := range []string{"10.0.0.2", "10.0.0.1"} {
		s.put(t, "site", hosts(second)).is(t, http.StatusOK)
		posted(i + 2)
	}
	for revision, status := range map[int]string{1: "success", 2: "success", 3: "failure"} {
		listed := s.get(t, fmt.Sprintf("revisions/%d/validations", revision)).text
		if !strings.Contains(listed, "unique-validation\n  status: "+status) {
			t.Errorf("revision %d is no %s:\n%s", revision, status, listed)
		}
	}
}
