package authz

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authn"
)

var (
	admin  = authn.Caller{UserID: "u1", UserName: "ada", ProjectID: "p1", DomainID: "d1", Roles: []string{"Admin"}}
	viewer = authn.Caller{UserID: "u2", UserName: "bob", ProjectID: "p2", Roles: []string{"reader", "Site_Viewer"}}
	nobody = authn.Caller{}
)

// here is what a request is about that names nothing but its site.
var here = Target{Site: "default"}

// allows reports whether a rule allows a caller something on the site.
func allows(policy *Policy, rule string, caller authn.Caller) bool {
	return policy.Decide(rule, caller, here) == Allowed
}

// passed returns the rules that a caller passes on the site.
func passed(policy *Policy, caller authn.Caller) []string {
	rules, _ := policy.Passed(caller, here)
	return rules
}

// parse parses a policy in which list_revisions has the given expression.
func parse(t *testing.T, expression string) *Policy {
	t.Helper()
	return parseFile(t, "deckhand:list_revisions: "+expression+"\n")
}

func parseFile(t *testing.T, text string) *Policy {
	t.Helper()
	policy, err := Parse([]byte(text), AdminsOnly)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return policy
}

func TestPolicy_Allows(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, expression string
		want             [3]bool // admin, reader, nobody
	}{
		{"always", `"@"`, [3]bool{true, true, true}},
		{"never", `"!"`, [3]bool{}},
		{"the empty text", `""`, [3]bool{true, true, true}},
		{"the empty text in single quotes", `''`, [3]bool{true, true, true}},
		{"a role", `role:admin`, [3]bool{true, false, false}},
		{"a role in other letters", `"role:SITE_viewer"`, [3]bool{false, true, false}},
		{"another rule", `rule:admin_api`, [3]bool{true, false, false}},
		{"another rule with a colon", `rule:deckhand:show_revision`, [3]bool{true, false, false}},
		{"not", `not role:admin`, [3]bool{false, true, true}},
		{"not twice", `not NOT role:admin`, [3]bool{true, false, false}},
		{"not binds to the next check", `not role:admin and role:reader`, [3]bool{false, true, false}},
		{"not of parentheses", `not (role:admin or role:reader)`, [3]bool{false, false, true}},
		{"and before or", `role:admin or role:reader and role:none`, [3]bool{true, false, false}},
		{"and before or, the other way", `role:none and role:reader or role:admin`, [3]bool{true, false, false}},
		{"parentheses", `(role:admin or role:reader) and not role:admin`, [3]bool{false, true, false}},
		{"parentheses with blanks", `( role:admin   or ( role:reader ) )`, [3]bool{true, true, false}},
		{"operators in capitals", `NOT role:admin AND role:x OR role:reader`, [3]bool{false, true, false}},
		{"line breaks", "|\n  role:admin\n  or\trole:reader\n", [3]bool{true, true, false}},
		{"a user", `user_id:u1`, [3]bool{true, false, false}},
		{"a user by another name of the key", `user:u1`, [3]bool{true, false, false}},
		{"a user's name", `user_name:bob`, [3]bool{false, true, false}},
		{"a project", `project_id:p2`, [3]bool{false, true, false}},
		{"a tenant", `tenant:p2`, [3]bool{false, true, false}},
		{"a domain", `domain_id:d1`, [3]bool{true, false, false}},
		{"credentials are compared letter by letter", `user_name:Bob`, [3]bool{}},
		{"the caller's own project", `project_id:%(project_id)s`, [3]bool{true, true, true}},
		{"the caller's own id", `user_id:%(user_id)s`, [3]bool{true, true, true}},
		{"text around a target", `"'xp1y':x%(project_id)sy"`, [3]bool{true, false, false}},
		{"a percent sign", `"'x%':x%%"`, [3]bool{true, true, true}},
		{"a text and a target", `"'p1':%(project_id)s"`, [3]bool{true, false, false}},
		{"a text in double quotes", `'"p1":%(project_id)s'`, [3]bool{true, false, false}},
		{"a number", `"1:1"`, [3]bool{true, true, true}},
		{"a truth value", `"True:True"`, [3]bool{true, true, true}},
		{"a role of the target", `role:%(project_id)s`, [3]bool{}},
		{"among the roles", `roles:reader`, [3]bool{false, true, false}},
		{"what nobody is", `is_admin:True`, [3]bool{}},
		{"what a caller lacks", `domain_id:None`, [3]bool{false, true, true}},
		{"what a target lacks", `None:%(project_id)s`, [3]bool{false, false, true}},
		{"a list", `[["role:admin"], ["role:reader", "project_id:p2"]]`, [3]bool{true, true, false}},
		{"a list of texts", `["role:admin", "role:none"]`, [3]bool{true, false, false}},
		{"a list without lists", `[]`, [3]bool{true, true, true}},
		{"a list of lists without checks", `[[], []]`, [3]bool{}},
		{"a list with one empty list", `[[], ["@"]]`, [3]bool{true, true, true}},
		{"a list over lines", "\n  - - role:reader\n    - tenant:p2\n", [3]bool{false, true, false}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			policy := parse(t, c.expression)
			var got [3]bool
			for i, caller := range []authn.Caller{admin, viewer, nobody} {
				got[i] = allows(policy, ListRevisions, caller)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The attributes of a caller have the meaning that oslo.policy 4.0 and oslo.context 5.0 give them, which recorded these
// verdicts on callers with tokens of four scopes, in this order.
func TestPolicy_Allows_scopes(t *testing.T) {
	t.Parallel()
	scoped := func(to authn.Caller) authn.Caller {
		to.UserID, to.UserDomainID, to.Roles = "u1", "home", []string{"admin"}
		return to
	}
	callers := []authn.Caller{
		scoped(authn.Caller{ProjectID: "p1", ProjectDomainID: "pd"}),
		scoped(authn.Caller{DomainID: "default"}),
		scoped(authn.Caller{SystemScope: "all"}),
		scoped(authn.Caller{ProjectID: "p1", ProjectDomainID: "default", NoAdminProject: true}),
	}
	for expression, want := range map[string]string{
		`role:admin and domain_id:default`: "0100",
		`domain:default`:                   "0100",
		`not domain_id:default`:            "1011",
		`user_domain_id:home`:              "1111",
		`user_domain:home`:                 "1111",
		`not user_domain_id:home`:          "0000",
		`project_id:p1`:                    "1001",
		`project:p1`:                       "1001",
		`project_domain_id:pd`:             "1000",
		`project_domain:default`:           "0001",
		`system_scope:all`:                 "0010",
		`not system_scope:all`:             "1101",
		`is_admin_project:True`:            "1110",
		`not is_admin_project:True`:        "0001",
		`is_admin_project:False`:           "0001",
		`is_admin:True`:                    "0000",
		`is_admin:1`:                       "0000",
		`not is_admin:True`:                "1111",
		`domain_id:%(project_id)s`:         "0010",
		`user_id:%(user_id)s`:              "1111",
		`not project_id:%(project_id)s`:    "0000",
		`roles:admin`:                      "1111",
		`roles:Admin`:                      "0000",
		`"'p1':%(project_id)s"`:            "1001",
		`not 'p1':%(project_id)s`:          "0110",
		`domain_id:None`:                   "1011",
		`service_user_id:None`:             "1111",
		`not service_user_id:u1`:           "1111",
		`service_user_domain_id:home`:      "0000",
		`service_project_id:None`:          "1111",
		`service_project_domain_id:None`:   "1111",
		`service_roles:None`:               "0000",
		`not service_roles:service`:        "1111",
		`None:%(project_id)s`:              "0110",
		`role:ADMIN and not system_scope:all or domain_id:default`: "1101",
		`user:u1 and (project_domain_id:pd or system_scope:all)`:   "1010",
	} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			policy, got := parse(t, expression), []byte("0000")
			for i, caller := range callers {
				if allows(policy, ListRevisions, caller) {
					got[i] = '1'
				}
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A name is bound to a role, nobody approves a change of his own, and what is not known matches nothing: neither itself nor
// its opposite.
func TestPolicy_Decide_targets(t *testing.T) {
	t.Parallel()
	const fourEyes = "role:%(validation)s and not user_id:%(author)s"
	drydock := authn.Caller{UserID: "u3", Roles: []string{"Drydock"}}
	result := Target{"default", "drydock", "u1"}
	own := Target{"default", "drydock", "u3"}
	for _, c := range []struct {
		expression string
		target     Target
		want       string // of admin, drydock, nobody
	}{
		{fourEyes, result, "refused/allowed/refused"},
		{fourEyes, own, "refused/refused/refused"},
		{fourEyes, Target{"default", "promenade", "u1"}, "refused/refused/refused"},
		{fourEyes, Target{"default", "drydock", ""}, "refused/depends/refused"},
		{fourEyes, Target{"default", "", "u1"}, "refused/depends/depends"},
		{fourEyes + " or role:admin", own, "allowed/refused/refused"},
		{"role:admin or " + fourEyes, here, "allowed/depends/depends"},
		{"not user_id:%(author)s", here, "depends/depends/depends"},
		{"not (not user_id:%(author)s)", own, "refused/allowed/refused"},
		{"(not user_id:%(author)s) or @", here, "allowed/allowed/allowed"},
		{"not (user_id:%(author)s or role:drydock)", here, "depends/refused/depends"},
		{"None:%(author)s", here, "depends/depends/depends"},
		{"'':%(author)s", here, "depends/depends/depends"},
		{"'default':%(site)s", here, "allowed/allowed/allowed"},
		{"'drydock':%(validation)s and role:drydock", result, "refused/allowed/refused"},
		{"roles:%(validation)s", result, "refused/refused/refused"},
		{"'%u3':%%%(author)s", own, "allowed/allowed/allowed"},
	} {
		policy := parse(t, fmt.Sprintf("%q", c.expression))
		var got []string
		for _, caller := range []authn.Caller{admin, drydock, nobody} {
			got = append(got, [...]string{"refused", "depends", "allowed"}[policy.Decide(ListRevisions, caller, c.target)])
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "/")); diff != "" {
			t.Errorf("%s about %+v (-want +got)\n%s", c.expression, c.target, diff)
		}
	}
}

func TestPolicy_Attributes(t *testing.T) {
	t.Parallel()
	policy := parseFile(t, "a: not user_id:%(author)s\n"+
		"deckhand:create_validation: (role:%(validation)s and rule:a) or rule:a or user_id:%(user_id)s\n")
	if diff := cmp.Diff([]string{"author", "validation"}, policy.Attributes(CreateValidation)); diff != "" {
		t.Error(diff)
	}
	if got := policy.Attributes(ListTags); got != nil {
		t.Errorf("%q", got)
	}
}

func TestPolicy_Allows_unregistered(t *testing.T) {
	t.Parallel()
	policy := parseFile(t, "helper: '@'\ndeckhand:list_tags: rule:helper\n")
	got := map[string]bool{}
	for _, name := range []string{"helper", "deckhand:nothing", "", ListTags} {
		got[name] = allows(policy, name, admin)
	}
	want := map[string]bool{"helper": false, "deckhand:nothing": false, "": false, ListTags: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPolicy_Passed(t *testing.T) {
	t.Parallel()
	policy := parseFile(t, `
helper: role:reader
deckhand:list_tags: rule:helper
deckhand:list_revisions: "@"
`)
	if diff := cmp.Diff([]string{ListRevisions, ListTags}, passed(policy, viewer)); diff != "" {
		t.Error(diff)
	}
	dependent := parseFile(t, "deckhand:list_tags: role:%(validation)s\ndeckhand:create_tag: role:reader or user_id:%(author)s\n")
	rights, depending := dependent.Passed(viewer, here)
	if diff := cmp.Diff([][]string{{CreateTag}, {ListTags}}, [][]string{rights, depending}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{}, passed(Default(AdminsOnly), viewer)); diff != "" {
		t.Error(diff)
	}
	if got := passed(Default(AdminsOnly), admin); len(got) != len(registered)-(len(Roles())-1) { // all but the other roles
		t.Errorf("an admin passes %v", got)
	}
}

func TestDefault(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(registered, Default(WithRoles).Rules()); diff != "" {
		t.Error(diff)
	}
	for _, r := range registered {
		if r.Name != AdminAPI && !strings.HasPrefix(r.Name, "deckhand:") && !strings.HasPrefix(r.Name, "purser:") || r.Description == "" {
			t.Errorf("%+v", r)
		}
	}
}

func TestPolicy_Rules(t *testing.T) {
	t.Parallel()
	policy := parseFile(t, `
b: [["role:x", "user:y"], "role:z"]
a: not (rule:b or role:X) AND (@ or !)
deckhand:show_audit: rule:a and ((role:x or role:y))
default: "rule:a"
`)
	var got []string
	for _, r := range policy.Rules() {
		if !slices.Contains(Default(AdminsOnly).Rules(), r) {
			got = append(got, r.Name+" = "+r.Expression)
		}
	}
	want := []string{
		"deckhand:show_audit = rule:a and (role:x or role:y)",
		"a = not (rule:b or role:X) and (@ or !)",
		"b = role:x and user:y or role:z",
		"default = rule:a",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
