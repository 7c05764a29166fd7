package authz

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget/budgettest"
)

// Real files have comments, quotes of all kinds, rules that refer to others, and several forms side by side.
func TestParse_realFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a generated sample, all in comments": "#\"admin_api\": \"role:admin\"\n\n# Lists revisions.\n# GET  /revisions\n" +
			"#\"deckhand:list_revisions\": \"rule:admin_api\"\n",
		"empty":             "",
		"an empty document": "---\n",
		"an empty mapping":  "{}",
		"YAML": `---
# site operators
"admin_api": "role:admin or role:cloud_admin"
"project_reader": "role:reader and project_id:%(project_id)s"
deckhand:list_revisions: rule:admin_api or rule:project_reader
'deckhand:show_revision': 'rule:admin_api or (role:reader and not user_name:guest)'
deckhand:delete_revisions: "!"
deckhand:list_validations: >-
  rule:admin_api
  or role:validator
...
`,
		"with a directive": "%YAML 1.1\n---\nadmin_api: role:admin\n",
		"JSON": `{
	"context_is_admin":  "role:admin",
	"admin_or_owner":  [["rule:context_is_admin"], ["project_id:%(project_id)s"]],
	"default": "rule:admin_or_owner",
	"deckhand:list_revisions": "",
	"deckhand:show_revision": []
}`,
		"JSON of Windows":                "\ufeff{\r\n  \"admin_api\": \"role:admin\"\r\n}\r\n",
		"YAML of Windows":                "\ufeffadmin_api: role:admin\r\ndeckhand:list_tags: \"@\"\r\n",
		"JSON on a line":                 `{"admin_api":"role:admin","deckhand:list_revisions":"","deckhand:show_tag":[]}`,
		"many alternatives":              "admin_api: role:admin" + strings.Repeat(" or (not role:a)", 2*maxNesting) + "\n",
		"YAML in braces":                 "{admin_api: 'role:admin', \"deckhand:list_tags\": '@',\n}\n",
		"anchors":                        "admin_api: &a role:admin\ndeckhand:list_tags: *a\n",
		"default, which decides nothing": "default: \"!\"\n",
	}
	for name, text := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if policy := parseFile(t, text); !allows(policy, ListRevisions, admin) {
				t.Error("an admin may not list revisions")
			}
		})
	}
}

func TestParse_refusesExpression(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		`"admin"`:                    `character 1: "admin" is not a check; write @, !, role:NAME, rule:NAME or KEY:VALUE`,
		`" "`:                        `character 2: a check is missing at the end`,
		`"role:"`:                    `character 1: "role:" is not a check; write @, !, role:NAME, rule:NAME or KEY:VALUE`,
		`":x"`:                       `character 1: ":x" is not a check; write @, !, role:NAME, rule:NAME or KEY:VALUE`,
		`role:ä and`:                 `character 11: a check is missing at the end`,
		`or role:a`:                  `character 1: a check is missing before "or"`,
		`not and role:a`:             `character 5: a check is missing before "and"`,
		`(role:a`:                    `character 1: a ( without its )`,
		`((role:a) and role:b`:       `character 1: a ( without its )`,
		`role:a)`:                    `character 7: a ) without its (`,
		`role:a and ()`:              `character 13: a check is missing before ")"`,
		`role:a role:b`:              `character 8: "role:b" follows a check without "and" or "or" between them`,
		`(role:a not role:b)`:        `character 9: "not" follows a check without "and" or "or" between them`,
		`(role:a)or(role:b)`:         `character 2: "role:a)or(role:b": a ) inside a check; blanks must stand between it and the check`,
		`role:a and http://h/%(id)s`: `character 12: http checks are not supported: no other server is asked who may do what`,
		`https://h`:                  `character 1: https checks are not supported: no other server is asked who may do what`,
		`project_id:%(project_id)`:   `character 1: "project_id:%(project_id": a % that begins no %(name)s; write %% for a percent sign`,
		`project_id:%(project_id)d`:  `character 1: "project_id:%(project_id)d": a % that begins no %(name)s; write %% for a percent sign`,
		`role:50%`:                   `character 1: "role:50%": a % that begins no %(name)s; write %% for a percent sign`,
		`not project_name:site`:      `character 5: a caller has no attribute "project_name"; did you mean project_id?`,
		`token.project.id:a`: `character 1: a caller has no attribute "token.project.id"; it has user_id, user, user_name, ` +
			`user_domain_id, user_domain, project_id, project, tenant, project_domain_id, project_domain, domain_id, domain, ` +
			`system_scope, is_admin_project, is_admin, roles, service_roles, service_user_id, service_user_domain_id, ` +
			`service_project_id, service_project_domain_id`,
		`True:%(user.enabled)s`: `character 1: "True:%(user.enabled)s": the target has no attribute "user.enabled"; ` +
			`it has project_id, user_id, author, site, validation`,
		`"'role:admin'"`:  `character 1: a quoted text must end before the colon, as in 'text':%(project_id)s, and quotes around a whole check are not read`,
		`"':x"`:           `character 1: a quoted text must end before the colon, as in 'text':%(project_id)s, and quotes around a whole check are not read`,
		`a"b:c`:           `character 1: a " in "a\"b", which is not a key of a credential`,
		`Role:admin`:      `character 1: "Role" must be in small letters`,
		`rule:nowhere`:    `refers to "nowhere", which does not exist`,
		`rule:list_tags`:  `refers to "list_tags", which does not exist; did you mean "deckhand:list_tags"?`,
		`rule:admin_appi`: `refers to "admin_appi", which does not exist; did you mean "admin_api"?`,
		`rule:deckhand:list_revisions and not rule:deckhand:list_revisions`: `refers to itself: deckhand:list_revisions -> deckhand:list_revisions`,
		`rule:deckhand:list_revisions`:                                      `refers to itself: deckhand:list_revisions -> deckhand:list_revisions`,
		``:                                                                  `no expression; write "@" for always or "!" for never`,
		`~`:                                                                 `no expression; write "@" for always or "!" for never`,
		`!`:                                                                 `write "!" for never and "@" for always, in quotes: YAML drops a ! without`,
		`! role:admin`:                                                      `write "!" for never and "@" for always, in quotes: YAML drops a ! without`,
		"\n  !":                                                             `no expression; write "@" for always or "!" for never`,
		`true`:                                                              `an expression must be a string or a list of lists of strings`,
		`{a: b}`:                                                            `an expression must be a string or a list of lists of strings`,
		`[[1]]`:                                                             `an expression must be a string or a list of lists of strings`,
		`[[["role:a"]]]`:                                                    `an expression must be a string or a list of lists of strings`,
		`["role:a or role:b"]`:                                              `an item of a list must be one check; to combine checks, write the whole expression as a string`,
		`['']`:                                                              `"" is not a check; write @, !, role:NAME, rule:NAME or KEY:VALUE`,
		`[["(role:a"]]`:                                                     `a ( in "(role", which is not a key of a credential`,
	}
	for expression, want := range cases {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte("deckhand:list_revisions: "+expression), AdminsOnly)
			if diff := cmp.Diff(`line 1: rule "deckhand:list_revisions": `+want, fmt.Sprint(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParse_listsAllThatIsWrong(t *testing.T) {
	t.Parallel()
	_, err := Parse([]byte(`# a file with one of each
deckhand:list_revision: role:admin
admin_api: rule:operators
operators: role:ops or rule:deckhand:show_tag
"deckhand:list_tags" : rule:nobody and rule:nobody
  # a comment
'strange name': role:x
deckhand:create_tag: role:x or
helper: rule:unused
unused: role:x
xyz: "@"
deckhand:create_tag: role:y and
`), AdminsOnly)
	want := []string{
		`The key 'deckhand:create_tag' appears twice in one mapping, at lines 8 and 12`,
		`line 2: rule "deckhand:list_revision": no operation has this rule, and no other rule of the file refers to it; did you mean "deckhand:list_revisions"?`,
		`line 3: rule "admin_api": refers to itself: admin_api -> operators -> deckhand:show_tag -> admin_api`,
		`line 5: rule "deckhand:list_tags": refers to "nobody", which does not exist`,
		`line 7: rule "strange name": a name of a rule is 1 to 200 bytes without blanks, parentheses and quotes`,
		`line 8: rule "deckhand:create_tag": character 11: a check is missing at the end`,
		`line 9: rule "helper": no operation has this rule, and no other rule of the file refers to it`,
		`line 11: rule "xyz": no operation has this rule, and no other rule of the file refers to it`,
	}
	if diff := cmp.Diff(want, strings.Split(fmt.Sprint(err), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestParse_lines(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"{\n\t\"admin_api\": \"role:admin\",\n\t\"deckhand:list_tags\" : [[\"rol\"]]\n}\n",
		"---\nadmin_api: role:admin\ndeckhand:list_tags:\n- - rol\n",
		"# deckhand:list_tags: x\r\n\r\n'deckhand:list_tags': ['rol']\r\n",
		"{\n  admin_api: role:admin\n  , deckhand:list_tags: [rol]\n}",
	} {
		_, err := Parse([]byte(text), AdminsOnly)
		want := `line 3: rule "deckhand:list_tags": "rol" is not a check; write @, !, role:NAME, rule:NAME or KEY:VALUE`
		if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestParse_refusesFile(t *testing.T) {
	t.Parallel()
	const tooLarge = "the file has more than 50000 keys and values, nests them deeper than 100, or grows beyond 4194304 bytes by its aliases"
	cases := map[string]struct{ text, want string }{
		"a list":         {"- role:admin\n", "the file must be a mapping of names of rules to expressions"},
		"a JSON list":    {"[]", "the file must be a mapping of names of rules to expressions"},
		"a text":         {"role:admin", "the file must be a mapping of names of rules to expressions"},
		"two documents":  {"admin_api: role:a\n---\nadmin_api: role:b\n", "line 2: a second document begins; the file must be one"},
		"no YAML":        {"admin_api: [\n", "line 1, column 12: the bracket '[' that opens here is not closed"},
		"an at sign":     {"admin_api: role:a\ndeckhand:list_tags: @\n", "line 2, column 21: a value cannot begin with '@'; quote it"},
		"UTF-16":         {"\xff\xfea\x00", "line 1: the text is UTF-16; it must be UTF-8: convert it with iconv -f UTF-16 -t UTF-8, or in PowerShell write it with Out-File -Encoding utf8"},
		"too many bytes": {strings.Repeat("#", MaxSize+1), "the file has more than 1048576 bytes"},
		"too many rules": {many(MaxRules+1, func(i int) string { return fmt.Sprintf("r%d: '@'\n", i) }), "the file has more than 1000 rules"},
		"too deep":       {"admin_api: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), tooLarge},
		"too many keys":  {many(60_000, func(i int) string { return fmt.Sprintf("%d: \n", i) }), tooLarge},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(c.text), AdminsOnly)
			if diff := cmp.Diff(c.want, fmt.Sprint(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func many(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
	}
	return b.String()
}

func TestParse_longCircle(t *testing.T) {
	t.Parallel()
	_, err := Parse([]byte(many(500, func(i int) string { return fmt.Sprintf("r%d: rule:r%d\n", i, (i+1)%500) })), AdminsOnly)
	want := `line 1: rule "r0": refers to itself: r0 -> r1 -> r2 -> r3 -> r4 -> r5 -> r6 -> r7 -> r8 -> r9 -> (489 more) -> r499 -> r0`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
}

func TestParse_nesting(t *testing.T) {
	t.Parallel()
	nested := func(n int) string {
		return "admin_api: " + strings.Repeat("(", n-1) + "role:a" + strings.Repeat(")", n-1)
	}
	chain := func(n int) string {
		return many(n-2, func(i int) string { return fmt.Sprintf("r%03d: rule:r%03d\n", i, i+1) }) +
			fmt.Sprintf("r%03d: role:a\nadmin_api: rule:r000\n", n-2)
	}
	parseFile(t, nested(maxNesting))
	parseFile(t, chain(maxNesting-2)) // all others refer to admin_api, and one to one of them
	for want, text := range map[string]string{
		"character 101: nested deeper than 100":     nested(maxNesting + 1),
		"refers to others over more than 100 steps": chain(maxNesting),
		"character 401: nested deeper than 100":     "admin_api: " + strings.Repeat("not ", maxNesting) + "role:a",
	} {
		if _, err := Parse([]byte(text), AdminsOnly); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200v, want %s", err, want)
		}
	}
}

// Parsing and evaluating a file within the bounds does not take much longer than for ordinary files.
//
//nolint:paralleltest // it measures the CPU time of the process
func TestParse_boundedTime(t *testing.T) {
	const size = MaxSize / 8 // large enough to notice superlinear time
	const most = 20
	readAndAsk := func(text string) (time.Duration, error) {
		began := budgettest.CPU()
		policy, err := Parse([]byte(text), AdminsOnly)
		if err == nil {
			passed(policy, admin)
		}
		return budgettest.CPU() - began, err
	}
	// Small files of the same total size. They would take a small part of the time if reading took quadratic time.
	const files, rules = 32, 16
	plain := "admin_api: '@" + many(rules, func(i int) string { return fmt.Sprintf(" or rule:r%d", i) }) + "'\n" +
		many(rules, func(i int) string {
			return fmt.Sprintf("r%d: 'role:admin%s'\n", i, strings.Repeat(" or role:other", size/files/rules/len(" or role:other")))
		})
	var ordinary time.Duration
	for range files {
		took, err := readAndAsk(plain)
		if err != nil {
			t.Fatal(err)
		}
		ordinary += took
	}
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	long := strings.Repeat("x", 190)
	hostile := map[string]string{
		"parentheses":   "admin_api: '" + fill("(") + "'",
		"closing":       "admin_api: 'role:a" + fill(")") + "'",
		"nots":          "admin_api: '" + fill("not ") + "'",
		"words":         "admin_api: '" + fill("a ") + "'",
		"one word":      "admin_api: '" + fill("a") + "'",
		"a long role":   "admin_api: 'role:" + fill("ä") + "'",
		"percent signs": "admin_api: 'role:" + fill("%%") + "'",
		"targets":       "admin_api: 'role:" + fill("%(user_id)s") + "'",
		"alternatives":  "admin_api: 'role:b" + fill(" or role:a") + "'",
		"unknown rules": "admin_api: '@" + many(size/14, func(i int) string { return fmt.Sprintf(" or rule:%d", i) }) + "'",
		"strangers":     many(900, func(i int) string { return fmt.Sprintf("%s%d: '@'\n", long, i) }),
		"misspelt":      many(900, func(i int) string { return fmt.Sprintf("deckhand:list_%d: rule:list_%dx\n", i, i) }),
		"blank lines":   fill("\n"),
		"quotes":        fill("'"),
		"keys":          many(10_000, func(i int) string { return fmt.Sprintf("%d: \n", i) }),
		"doubling": "r98: role:a\nadmin_api: rule:r1\n" +
			many(97, func(i int) string { return fmt.Sprintf("r%d: not rule:r%d and not rule:r%d\n", i+1, i+2, i+2) }),
		"all refer to all": many(150, func(i int) string {
			return fmt.Sprintf("r%d: '@%s'\n", i, many(150, func(j int) string { return fmt.Sprintf(" or rule:r%d", j) }))
		}),
		"a long circle, refused where it closes": many(999, func(i int) string {
			return fmt.Sprintf("r%d: rule:r%d%s\n", i, (i+1)%999, many(20, func(j int) string { return fmt.Sprintf(" or rule:r%d", i-min(i, j+1)) }))
		}),
	}
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			if len(text) > MaxSize {
				t.Fatalf("%d bytes", len(text))
			}
			took, err := readAndAsk(text)
			t.Logf("%.2f times the ordinary: %.100v", float64(took)/float64(ordinary), err)
			if took > most*ordinary {
				t.Errorf("took %v, ordinary files of that size %v", took, ordinary)
			}
			if err != nil && len(err.Error()) > 100_000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}
