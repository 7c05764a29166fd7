package e2e_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

func (s *server) whoami(t *testing.T, k *keys, user string) answer {
	t.Helper()
	return s.send(t, request{method: http.MethodGet, path: "whoami", header: k.as(user)})
}

func TestTokens_bothHeaders(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "reader")
	s := k.startWith(t, "")
	header := k.as("reader")
	header["X-Auth-Token"] = k.of["reader"]
	s.send(t, request{method: http.MethodGet, path: "whoami", header: header}).is(t, http.StatusOK)
	delete(header, "Authorization")
	s.send(t, request{method: http.MethodGet, path: "whoami", header: header}).is(t, http.StatusOK)
}

func TestTokens_fileChanges(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "first")
	s := k.startWith(t, "")
	before, err := os.ReadFile(k.file)
	if err != nil {
		t.Fatal(err)
	}
	k.add(t, "second", "--expires", "90d")
	eventually(t, "a new token counts", func() bool { return s.whoami(t, k, "second").status == http.StatusOK })
	s.whoami(t, k, "first").is(t, http.StatusOK)

	writeFile(t, k.file, "- {id: what, is: this}")
	eventually(t, "a broken file is complained of", func() bool {
		s.whoami(t, k, "second").is(t, http.StatusOK)
		return strings.Contains(s.log.text(), "THE TOKENS FILE CANNOT BE USED")
	})
	writeFile(t, k.file, string(before))
	eventually(t, "a revoked token does not count", func() bool {
		return s.whoami(t, k, "second").status == http.StatusUnauthorized
	})
	s.whoami(t, k, "first").is(t, http.StatusOK)
	for user, token := range k.of {
		if strings.Contains(s.log.text(), token) {
			t.Errorf("the token of %s stands in the log", user)
		}
	}
}

func TestTokens_expire(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	k.add(t, "hasty", "--expires", "1s")
	s := k.startWith(t, "")
	eventually(t, "it has expired", func() bool { return s.whoami(t, k, "hasty").status == http.StatusUnauthorized })
}

func TestTokens_newRefuses(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	for name, flags := range map[string][]string{
		"no user":   {"--tokens-file", k.file, "--role", "r"},
		"no role":   {"--tokens-file", k.file, "--user", "u"},
		"no file":   {"--user", "u", "--role", "r"},
		"no days":   {"--tokens-file", k.file, "--user", "u", "--role", "r", "--expires", "d"},
		"past":      {"--tokens-file", k.file, "--user", "u", "--role", "r", "--expires", "-1h"},
		"many days": {"--tokens-file", k.file, "--user", "u", "--role", "r", "--expires", "99999999999d"},
		"bad user":  {"--tokens-file", k.file, "--user", "a\nb", "--role", "r"},
		"no folder": {"--tokens-file", k.file + "/x/y", "--user", "u", "--role", "r"},
	} {
		if out, code := runProgram(t, append([]string{"token", "new"}, flags...)...); code == 0 || strings.Contains(out, "prs_") {
			t.Errorf("%s: exit code %d\n%s", name, code, out)
		}
	}
}

// A token that allows nothing without a policy file is created, with a list of the roles that do.
func TestTokens_newForNothing(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	for role, told := range map[string]bool{"admin": false, "Admin": false, "admn": true, "reader": false, "poster": true} {
		out, code := runProgram(t, "token", "new", "--tokens-file", k.file, "--user", "u", "--role", role)
		if code != 0 || strings.Contains(out, "gives rights to "+role) != told || strings.Contains(out, "  writer     reads") != told {
			t.Errorf("%s: exit code %d\n%s", role, code, out)
		}
	}
}

func TestPolicyFile_isBroken(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"expression": "'deckhand:list_revisions': role:reader or and",
		"rule":       "'deckhand:list_revision': role:reader",
		"reference":  "'deckhand:list_revisions': rule:readers",
		"frame":      "- a\n- b",
	} {
		if out := refusesToStart(t, "--policy-file", policyFile(t, text)); !strings.Contains(out, "access rules ") {
			t.Errorf("%s: it does not say why:\n%s", name, out)
		}
	}
	refusesToStart(t, "--policy-file", t.TempDir()+"/none")
}

func TestPolicyFile_changes(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "reader")
	path := policyFile(t, "'deckhand:list_revisions': role:reader")
	s := k.startWith(t, "", "--policy-file", path)
	list := func() int {
		return s.send(t, request{method: http.MethodGet, path: "revisions", header: k.as("reader")}).status
	}
	if got := list(); got != http.StatusOK {
		t.Fatalf("status %d", got)
	}
	writeFile(t, path, "'deckhand:list_revisions': role:reader or")
	eventually(t, "a broken policy is complained of", func() bool {
		if got := list(); got != http.StatusOK {
			t.Fatalf("a broken policy counts: status %d", got)
		}
		return strings.Contains(s.log.text(), "the previous rules still apply")
	})
	writeFile(t, path, "'deckhand:list_revisions': '!'")
	eventually(t, "the new policy is in force", func() bool { return list() == http.StatusForbidden })
}

// Without authentication all callers are admins, whatever they send, and other machines cannot connect.
func TestAuth_none(t *testing.T) {
	t.Parallel()
	s := start(t)
	got := s.get(t, "whoami", "X-Auth-Token", "anything", "Authorization", "Bearer another").is(t, http.StatusOK)
	if user, _ := got.mapping(t)["user"].(map[string]any); user["id"] != "noauth" || got.got.Get("X-User-Name") != "" {
		t.Errorf("whoami: %v, X-User-Name %q", user, got.got.Get("X-User-Name"))
	}
}

func TestAuth_noneForOthers(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", "[::]:0", ":0"} {
		if out := refusesToStart(t, "--listen", address); !strings.Contains(out, "--insecure-no-auth") {
			t.Errorf("%s: it does not say how to go on:\n%s", address, out)
		}
	}
	startFresh(t, "--listen", "0.0.0.0:0", "--insecure-no-auth").get(t, "whoami").is(t, http.StatusOK)
	newKeys(t, "reader").startWith(t, "", "--listen", "0.0.0.0:0")
}

// A server refuses to start if a flag of another way to authenticate clients is set than that of --auth.
func TestAuth_notUsed(t *testing.T) {
	t.Parallel()
	tokens := []string{"--tokens-file", newKeys(t, "reader").file}
	for _, c := range []struct {
		flags []string
		auth  string
	}{
		{tokens, "tokens"},
		{[]string{"--oidc-issuer", "https://id.example"}, "oidc"},
		{[]string{"--keystone-url", "https://id.example"}, "keystone"},
		{append([]string{"--oidc-issuer", "https://id.example", "--auth", "tokens"}, tokens...), "oidc"},
	} {
		want := c.flags[0] + " has no effect with --auth="
		if out := refusesToStart(t, c.flags...); !strings.Contains(out, want) || !strings.Contains(out, "set --auth="+c.auth) {
			t.Errorf("%s: it does not say how to go on:\n%s", c.flags, out)
		}
	}
}

func TestAuth_flagsThatAreMissing(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"tokens":   {"--auth", "tokens"},
		"no file":  {"--auth", "tokens", "--tokens-file", t.TempDir() + "/none"},
		"oidc":     {"--auth", "oidc", "--oidc-issuer", "https://id.example"},
		"keystone": {"--auth", "keystone", "--keystone-url", "https://id.example"},
		"tls":      {"--tls-cert", "cert.pem"},
		"client":   {"--tls-client-ca", "ca.pem"},
	} {
		if out := refusesToStart(t, flags...); strings.Contains(out, "panic") {
			t.Errorf("%s: %s", name, out)
		}
	}
}
