package e2e_test

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authn"
	"purser/internal/authz"
)

// pageOf returns a page of the documentation.
func pageOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rowsOf returns the rows of the table in a section of a page: what is in code quotes in the first column, and in the
// last one.
func rowsOf(t *testing.T, page, heading string) map[string][]string {
	t.Helper()
	quoted, rows := regexp.MustCompile("`([^`]+)`"), map[string][]string{}
	_, section, _ := strings.Cut(pageOf(t, page), "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) < 2 {
			continue
		}
		for _, found := range quoted.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			name := strings.Trim(cells[0], " `")
			rows[name] = append(rows[name], found[1])
		}
	}
	if len(rows) == 0 {
		t.Fatalf("docs/%s has no table in the section %q", page, heading)
	}
	return rows
}

// docs/access.md lists the rules of each built-in role, and the roles of the validator in docs/validator.md pass the
// rules that it needs.
func TestAccess_documentedRoles(t *testing.T) {
	t.Parallel()
	policy, rows := authz.Default(authz.WithRoles), rowsOf(t, "access.md", "## Roles")
	passed := func(roles ...string) (short []string) {
		rules, _ := policy.Passed(authn.Caller{Roles: roles}, authz.Target{})
		for _, rule := range rules {
			if name := strings.TrimPrefix(strings.TrimPrefix(rule, "deckhand:"), "purser:"); !slices.Contains(roles, name) {
				short = append(short, name)
			}
		}
		return slices.Sorted(slices.Values(short))
	}
	for _, role := range []string{"reader", "validator", "writer"} {
		documented := rows[role]
		if role != "reader" {
			documented = append(documented, rows["reader"]...)
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(documented)), passed(role)); diff != "" {
			t.Errorf("%s (-documented +is)\n%s", role, diff)
		}
	}
	needed := regexp.MustCompile(`"[a-z]+:(\w+)":`).FindAllStringSubmatch(rulesOf(t, "validator.md"), -1)
	for _, rule := range needed {
		if !slices.Contains(passed("validator", "writer"), rule[1]) {
			t.Errorf("the roles validator and writer do not pass %s, which docs/validator.md lists", rule[1])
		}
	}
}

// rolesSite starts a server without a policy file. It has two revisions, with a tag and an override of a Puppet
// resource, and a person for each role, and for the role of nobody.
func rolesSite(t *testing.T) (s *server, k *keys, people map[string]*person) {
	t.Helper()
	k, people = newKeys(t, "nobody", "reader", "validator", "writer", "admin"), map[string]*person{}
	s = k.startWith(t, "", "--request-rate", "0")
	for role, token := range k.of {
		people[role] = at(t, s, "PURSER_TOKEN="+token)
		people[role].writes(t, "compiled.json", motd)
		people[role].writes(t, "w.yaml", widget("by-"+role, "{}"))
		people[role].writes(t, "site.yaml", layeringPolicy("lp")+widget("w", "{a: 1}")+
			override("motd", "{configuration: {file: {/etc/motd: {content: a}}}}", ""))
	}
	admin := people["admin"]
	admin.does(t, "push", "site", "site.yaml")
	admin.does(t, "push", "policies", "w.yaml")
	admin.does(t, "tag", "old", "1")
	return s, k, people
}

// ownTests matches the commands that read a terminal, manage the file of servers, or need several sites or an attestation.
var ownTests = regexp.MustCompile("^(config .*|fleet push|help|login|logout|lsp|verify)$")

// Each command succeeds with the role that docs/purser.md names, and with less it is refused with the roles that would
// do.
func TestAccess_commandsNeedRoles(t *testing.T) {
	t.Parallel()
	_, _, people := rolesSite(t)
	lines := map[string]string{ // of the commands in the table; those that are not here are complete
		"log": "log --document acme/Widget/v1/w", "explain": "explain acme/Widget/v1/w", "diff": "diff 1 2", "pull": "pull out",
		"results list": "results list 1 --validation deckhand-schema-validation", "puppet apply": "puppet apply compiled.json",
		"sites list": "sites", "sites show": "sites show default",
		"fleet status": "fleet status default",
		"puppet diff":  "puppet diff 1 latest compiled.json", "tag": "tag", "results post": "results post mini-validation latest~1 --status success",
		"results request": "results request mini-validation latest~1", "work": "work --once --wait 5s mini-validation -- true",
		"push": "push mine w.yaml", "rollback": "rollback 2 --yes", "tag NAME REV": "tag new 1", "tag --delete": "tag new --delete --yes",
		"prune": "prune --keep 1 --yes", "completion": "completion bash", "man": "man pages", "events": "events --since 0",
		"check": "check site.yaml", "approve": "approve mini-validation latest~1", "reject": "reject other-validation latest~1",
	}
	rows := rowsOf(t, "purser.md", "## Roles")
	lesser := map[string][]string{
		"reader": {"nobody"}, "validator": {"nobody", "reader", "writer"}, "writer": {"nobody", "reader", "validator"},
		"admin": {"nobody", "reader", "validator", "writer"},
	}
	holders := map[string]string{"validator": "validator, admin.", "writer": "writer, admin.", "admin": "admin."}
	roleOf := map[string]string{"none, and no server": "nobody", "any": "nobody"}
	said := map[string]bool{}
	for _, row := range []string{"none, and no server", "any", "reader", "validator", "writer", "admin"} { // prunes last
		role := roleOf[row]
		if role == "" {
			role = row
		}
		for _, name := range rows[row] {
			said[strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(name, "NAME REV"), "--delete"))] = true
			line, known := lines[name]
			if !known {
				line = name
			}
			if row == "admin" && name != "prune" || ownTests.MatchString(name) { // an admin for encrypted documents only
				continue
			}
			args := strings.Fields(line)
			for _, other := range lesser[row] {
				would := holders[row]
				if other == "nobody" { // the command may need several rules, and this is about the first
					would = ""
				}
				if name == "sites show" || name == "fleet status" { // who may not see a site does not learn that it exists
					people[other].run(t, args...).exits(t, 2, "There is no site default")
					continue
				}
				people[other].run(t, args...).exits(t, 2, "Policy doesn't allow ", "These roles have this right: "+would, "admin.\n", "`purser whoami`")
			}
			people[role].run(t, args...).exits(t, 0)
		}
	}
	pages, err := os.ReadDir(filepath.Join(people["nobody"].home, "pages"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, page := range pages {
		command := strings.TrimSuffix(strings.TrimPrefix(page.Name(), "purser-"), ".1")
		all = append(all, strings.ReplaceAll(command, "-", " "))
	}
	all = slices.DeleteFunc(all, func(name string) bool { // purser itself, and groups of commands
		return name == "purser" || slices.ContainsFunc(all, func(other string) bool { return strings.HasPrefix(other, name+" ") })
	})
	if diff := cmp.Diff(slices.Sorted(slices.Values(all)), slices.Sorted(maps.Keys(said))); diff != "" {
		t.Errorf("commands (-in the manual +with a role)\n%s", diff)
	}
}

// What writers may not do with encrypted documents is refused with the role that may. Nothing was changed.
func TestAccess_rolesAndSecrets(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "writer", "admin")
	s := k.startWith(t, "", "--secrets-keyset", newKeyset(t))
	admin, writer := at(t, s, "PURSER_TOKEN="+k.of["admin"]), at(t, s, "PURSER_TOKEN="+k.of["writer"])
	for _, p := range []*person{admin, writer} {
		p.writes(t, "site.yaml", layeringPolicy("lp")+widget("w", "{a: 1}"))
		p.writes(t, "secret.yaml", passphrase("pw", "hunter2"))
	}
	writer.does(t, "push", "site", "site.yaml")
	refused := []string{"deckhand:create_encrypted_documents", "have this right: admin."}
	writer.run(t, "push", "secrets", "secret.yaml").exits(t, 2, refused...)
	admin.does(t, "push", "secrets", "secret.yaml")
	writer.run(t, "rollback", "1", "--yes").exits(t, 2, refused...)
	writer.writes(t, "other.yaml", widget("other", "{}"))
	writer.run(t, "push", "secrets", "other.yaml", "--yes").exits(t, 2, refused...)
	if got := admin.does(t, "log", "-o", "name"); got != "2\n1\n" {
		t.Errorf("revisions: %q", got)
	}
	admin.does(t, "rollback", "1", "--yes")
}

// The policy files of docs/access.md do what it says: each gives what it names, and takes nothing else.
func TestAccess_documentedFiles(t *testing.T) {
	t.Parallel()
	files := regexp.MustCompile("(?s)```yaml\n(\"(?:deckhand|purser):.*?)```").FindAllStringSubmatch(pageOf(t, "access.md"), -1)
	if len(files) < 2 {
		t.Fatalf("docs/access.md shows %d policy files", len(files))
	}
	k := newKeys(t, "admin", "reader", "poster", "writer")
	s := k.startWith(t, files[1][1])
	admin, poster := at(t, s, "PURSER_TOKEN="+k.of["admin"]), at(t, s, "PURSER_TOKEN="+k.of["poster"])
	admin.writes(t, "site.yaml", layeringPolicy("lp")+widget("w", "{a: 1}"))
	admin.does(t, "push", "site", "site.yaml")

	poster.run(t, "results", "post", "mini-validation", "1", "--status", "success").exits(t, 0)
	poster.run(t, "results", "post", "mini-validation", "--status", "success").exits(t, 0)
	post := func(user string) answer {
		body := "{status: success, validator: {name: v, version: '1'}}"
		return s.send(t, request{method: http.MethodPost, path: "revisions/latest/validations/curl-validation", body: body, header: k.as(user)})
	}
	post("poster").is(t, http.StatusCreated)
	post("reader").is(t, http.StatusForbidden)
	for user, want := range map[string]map[string]int{
		"poster": {"revisions": http.StatusForbidden, "audit": http.StatusForbidden},
		"reader": {"revisions": http.StatusOK, "audit": http.StatusOK, "webhooks": http.StatusForbidden},
		"writer": {"revisions": http.StatusForbidden, "audit": http.StatusForbidden},
	} {
		for path, status := range want {
			s.send(t, request{method: http.MethodGet, path: path, header: k.as(user)}).is(t, status)
		}
	}
}

// The built-in roles have rights only where the server issues its tokens, and is not in Deckhand's place; elsewhere by a
// file.
func TestAccess_rolesNeedOwnTokens(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "reader")
	for name, c := range map[string]struct {
		policy string
		flags  []string
		want   int
	}{
		"tokens":              {"", nil, http.StatusOK},
		"in Deckhand's place": {"", []string{"--compat=deckhand"}, http.StatusForbidden},
		"by a file":           {"'purser:reader': role:reader", []string{"--compat=deckhand"}, http.StatusOK},
		"not all by a file":   {"'deckhand:list_tags': role:reader", nil, http.StatusForbidden},
		"not by a file":       {"'purser:reader': '!'", nil, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := k.startWith(t, c.policy, c.flags...)
			s.send(t, request{method: http.MethodGet, path: "revisions", header: k.as("reader")}).is(t, c.want)
		})
	}
}
