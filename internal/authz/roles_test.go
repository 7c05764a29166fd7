package authz

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authn"
)

// with returns a caller with roles.
func with(roles ...string) authn.Caller {
	return authn.Caller{UserID: "u", ProjectID: "p", Roles: roles}
}

// rightsOf returns the rules of routes that a role passes, without the part before the colon.
func rightsOf(policy *Policy, roles ...string) (rights []string) {
	for _, name := range passed(policy, with(roles...)) {
		if name != Reader && name != Writer && name != Validator && name != AdminAPI {
			_, short, _ := strings.Cut(name, ":")
			rights = append(rights, short)
		}
	}
	slices.Sort(rights)
	return rights
}

// Each role has its rights without a file, and no others: none of them sees encrypted documents, stores any, deletes
// revisions, reads the audit or makes the server call others. Who writes documents cannot post results about them.
func TestRoles(t *testing.T) {
	t.Parallel()
	reading := []string{
		"list_cleartext_documents", "list_events", "list_revisions", "list_tags", "list_validations", "show_metrics",
		"show_revision", "show_revision_deepdiff", "show_revision_diff", "show_tag", "show_validation",
	}
	and := func(more ...string) []string { return slices.Sorted(slices.Values(slices.Concat(reading, more))) }
	policy := Default(WithRoles)
	for role, want := range map[string][]string{
		"reader":    reading,
		"READER":    reading,
		"validator": and("create_validation"),
		"writer":    and("create_cleartext_documents", "use_encrypted_documents", "create_tag", "delete_tag"),
		"readers":   nil,
		"member":    nil,
		"":          nil,
	} {
		if diff := cmp.Diff(want, rightsOf(policy, role)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", role, diff)
		}
	}
	if got := len(rightsOf(policy, "admin")); got != len(registered)-len(Roles()) {
		t.Errorf("an admin has %d rights", got)
	}
	for _, role := range Roles() {
		if !allows(policy, role.Rule, with(role.Name)) {
			t.Errorf("the rule %s is not that of %s", role.Rule, role.Name)
		}
		if got := rightsOf(Default(AdminsOnly), role.Name); len(got) > 0 && role.Rule != AdminAPI {
			t.Errorf("%s has %q as with Deckhand's rules", role.Name, got)
		}
	}
}

// A file replaces defaults rule by rule: of a route, for all roles; of a role, for all its rules. It adds to a built-in
// role by its rule, and replaces the role by checking for it: in a file from before there were built-in roles, that is
// all that the role may do.
func TestRoles_files(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file     string
		defaults Defaults
		caller   authn.Caller
		rule     string
		want     bool
	}{
		"a right more":                {"deckhand:show_audit: rule:purser:reader", WithRoles, with("reader"), ShowAudit, true},
		"and all others stay":         {"deckhand:show_audit: rule:purser:reader", WithRoles, with("reader"), ListTags, true},
		"the rights of the file":      {"deckhand:list_tags: role:Reader", WithRoles, with("reader"), ListTags, true},
		"and no others":               {"deckhand:list_tags: role:Reader", WithRoles, with("reader"), ShowTag, false},
		"by a helper":                 {"a: not (roles:reader)\ndeckhand:list_tags: rule:a", WithRoles, with("reader"), ShowTag, false},
		"another role is as before":   {"deckhand:list_tags: role:reader", WithRoles, with("writer"), ListRevisions, true},
		"the role is the built-in":    {"purser:reader: role:reader\ndeckhand:list_tags: role:reader", WithRoles, with("reader"), ShowTag, true},
		"a role in another's rule":    {"purser:writer: role:reader", WithRoles, with("reader"), CreateTag, true},
		"a right less":                {"deckhand:show_metrics: rule:admin_api", WithRoles, with("reader"), ShowMetrics, false},
		"and all others stay as well": {"deckhand:show_metrics: rule:admin_api", WithRoles, with("reader"), ListTags, true},
		"no such role":                {`purser:writer: "!"`, WithRoles, with("writer"), CreateTag, false},
		"but the others":              {`purser:writer: "!"`, WithRoles, with("reader"), ListTags, true},
		"another name":                {"purser:reader: role:auditor", WithRoles, with("auditor"), ListTags, true},
		"instead of the first":        {"purser:reader: role:auditor", WithRoles, with("reader"), ListTags, false},
		"writers still read":          {"purser:reader: role:auditor", WithRoles, with("writer"), ListTags, true},
		"admins still read":           {"purser:reader: role:auditor", WithRoles, with("admin"), ListTags, true},
		"other admins":                {"admin_api: role:boss", WithRoles, with("boss"), PruneRevisions, true},
		"no uses of secrets":          {"purser:use_encrypted_documents: rule:admin_api", WithRoles, with("writer"), UseEncryptedDocuments, false},
		"of Deckhand":                 {"deckhand:list_tags: role:reader", AdminsOnly, with("reader"), ListTags, true},
		"of Deckhand, nothing else":   {"deckhand:list_tags: role:reader", AdminsOnly, with("reader"), ShowTag, false},
		"of Deckhand, with its name":  {"reader: role:reader\ndeckhand:list_tags: rule:reader", AdminsOnly, with("reader"), ShowTag, false},
		"of one project":              {"purser:reader: role:reader and project_id:p", AdminsOnly, with("reader"), ShowTag, true},
		"of another project":          {"purser:reader: role:reader and project_id:q", AdminsOnly, with("reader"), ShowTag, false},
		"one role only":               {"purser:reader: role:reader", AdminsOnly, with("writer"), ShowTag, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy, err := Parse([]byte(c.file), c.defaults)
			if err != nil {
				t.Fatal(err)
			}
			if got := allows(policy, c.rule, c.caller); got != c.want {
				t.Errorf("%v passes %s: %v", c.caller.Roles, c.rule, got)
			}
		})
	}
}

func TestPolicy_Holders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file     string
		defaults Defaults
		rule     string
		want     string
	}{
		"reading":             {"", WithRoles, ListTags, "reader validator writer admin"},
		"writing":             {"", WithRoles, CreateTag, "writer admin"},
		"results":             {"", WithRoles, CreateValidation, "validator admin"},
		"secrets":             {"", WithRoles, ListEncryptedDocuments, "admin"},
		"as in Deckhand":      {"", AdminsOnly, ListTags, "admin"},
		"of one project":      {"admin_api: role:admin and project_id:p", AdminsOnly, ListTags, ""},
		"of a file":           {"deckhand:list_tags: role:reader or rule:admin_api", AdminsOnly, ListTags, "reader admin"},
		"a rule of no route":  {"", WithRoles, "deckhand:nothing", ""},
		"by the name":         {"deckhand:create_validation: role:%(validation)s or rule:admin_api", WithRoles, CreateValidation, "admin"},
		"four eyes":           {"deckhand:create_validation: rule:purser:validator and not user_id:%(author)s", WithRoles, CreateValidation, ""},
		"everybody by a file": {`deckhand:list_tags: "@"`, AdminsOnly, ListTags, "reader validator writer admin"},
	} {
		policy, err := Parse([]byte(c.file), c.defaults)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, strings.Join(policy.Holders(c.rule, here), " ")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// The log says which built-in roles a file replaces, at the start and when it changes.
func TestOpen_logsReplacedRoles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file     string
		defaults Defaults
		want     []string
	}{
		"a role":              {"deckhand:list_tags: role:Reader or rule:admin_api", WithRoles, []string{"purser:reader"}},
		"two, within":         {"a: not (role:writer)\ndeckhand:list_tags: rule:a or roles:reader", WithRoles, []string{"purser:reader", "purser:writer"}},
		"named":               {"purser:reader: role:reader\ndeckhand:list_tags: role:reader", WithRoles, nil},
		"other roles":         {"deckhand:list_tags: role:plain or role:admin", WithRoles, nil},
		"by the rule":         {"deckhand:list_tags: rule:purser:reader", WithRoles, nil},
		"as in Deckhand":      {"deckhand:list_tags: role:reader", AdminsOnly, nil},
		"an empty file":       {"", WithRoles, nil},
		"only another's name": {"purser:writer: role:reader", WithRoles, []string{"purser:reader"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "policy.yaml")
			var log bytes.Buffer
			now := time.Now()
			said := func() (rules []string) {
				for line := range strings.Lines(log.String()) {
					if _, rule, found := strings.Cut(line, "decides alone"); found {
						_, rule, _ = strings.Cut(rule, " rule=")
						rules = append(rules, strings.TrimSpace(rule))
					}
				}
				log.Reset()
				return rules
			}
			write := func(text string) {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(c.file)
			file, err := Open(path, c.defaults, slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return now })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, said()); diff != "" {
				t.Errorf("at the start (-want +got)\n%s", diff)
			}
			write(c.file + "\n# changed\n")
			for range 3 { // a changed file is used once it stays the same
				now = now.Add(time.Hour)
				file.Policy()
			}
			if diff := cmp.Diff(c.want, said()); diff != "" {
				t.Errorf("after a change (-want +got)\n%s", diff)
			}
		})
	}
}
