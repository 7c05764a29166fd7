package authz

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/authn"
)

// sentence is a generated expression and a straightforward evaluation of its meaning.
type sentence struct {
	text    string
	verdict func(authn.Caller) bool
}

func callers() *rapid.Generator[authn.Caller] {
	id := rapid.SampledFrom([]string{"", "a", "b", "A"})
	return rapid.Custom(func(t *rapid.T) authn.Caller {
		return authn.Caller{
			UserID:    id.Draw(t, "user"),
			UserName:  id.Draw(t, "name"),
			ProjectID: id.Draw(t, "project"),
			DomainID:  id.Draw(t, "domain"),
			Roles:     rapid.SliceOfN(id, 0, 3).Draw(t, "roles"),
		}
	})
}

// atoms generates checks without operators. above are the rules that they may refer to.
func atoms(above map[string]sentence) *rapid.Generator[sentence] {
	is := func(text string, verdict func(c authn.Caller) bool) sentence { return sentence{text, verdict} }
	atoms := []sentence{
		is("@", func(authn.Caller) bool { return true }),
		is("!", func(authn.Caller) bool { return false }),
		is("role:a", func(c authn.Caller) bool { return slices.Contains(c.Roles, "a") || slices.Contains(c.Roles, "A") }),
		is("role:B", func(c authn.Caller) bool { return slices.Contains(c.Roles, "b") }),
		is("role:%(user_id)s", func(c authn.Caller) bool {
			return slices.ContainsFunc(c.Roles, func(r string) bool { return strings.EqualFold(r, (&evaluation{caller: c}).fill("%(user_id)s")) })
		}),
		is("user_id:a", func(c authn.Caller) bool { return c.UserID == "a" }),
		is("user_name:%(user_id)s", func(c authn.Caller) bool { return c.UserName == c.UserID }),
		is("tenant:b", func(c authn.Caller) bool { return c.ProjectID == "b" }),
		is("domain_id:%(project_id)s", func(c authn.Caller) bool { return c.DomainID == c.ProjectID }),
		is("'a':%(project_id)s", func(c authn.Caller) bool { return c.ProjectID == "a" }),
		is("project:None", func(c authn.Caller) bool { return c.ProjectID == "" }),
		is("roles:A", func(c authn.Caller) bool { return slices.Contains(c.Roles, "A") }),
	}
	for name, rule := range above {
		atoms = append(atoms, sentence{"rule:" + name, rule.verdict})
	}
	slices.SortFunc(atoms, func(a, b sentence) int { return strings.Compare(a.text, b.text) })
	return rapid.SampledFrom(atoms)
}

// sentences generates expressions with or, and, not and parentheses, as in the grammar.
func sentences(above map[string]sentence, depth int) *rapid.Generator[sentence] {
	return rapid.Custom(func(t *rapid.T) sentence {
		conjunction := func() sentence {
			return joinedBy(t, "and", func() sentence { return operands(above, depth).Draw(t, "operand") })
		}
		return joinedBy(t, "or", conjunction)
	})
}

func joinedBy(t *rapid.T, operator string, part func() sentence) sentence {
	whole := part()
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, operator+"s") {
		left, right := whole, part()
		word := rapid.SampledFrom([]string{operator, strings.ToUpper(operator)}).Draw(t, "case")
		whole.text = left.text + blank(t) + word + blank(t) + right.text
		whole.verdict = func(c authn.Caller) bool {
			if operator == "or" {
				return left.verdict(c) || right.verdict(c)
			}
			return left.verdict(c) && right.verdict(c)
		}
	}
	return whole
}

func blank(t *rapid.T) string {
	return rapid.SampledFrom([]string{" ", "  ", "\t", "\n"}).Draw(t, "blank")
}

func operands(above map[string]sentence, depth int) *rapid.Generator[sentence] {
	return rapid.Custom(func(t *rapid.T) sentence {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		switch {
		case depth > 0 && kind == 0:
			inner := sentences(above, depth-1).Draw(t, "inner")
			return sentence{"(" + inner.text + rapid.SampledFrom([]string{")", " )"}).Draw(t, "close"), inner.verdict}
		case depth > 0 && kind == 1:
			inner := operands(above, depth-1).Draw(t, "negated")
			return sentence{"not" + blank(t) + inner.text, func(c authn.Caller) bool { return !inner.verdict(c) }}
		}
		return atoms(above).Draw(t, "atom")
	})
}

// policies generates the rules of files, each of which refers to earlier ones, with their meaning.
func policies() *rapid.Generator[map[string]sentence] {
	return rapid.Custom(func(t *rapid.T) map[string]sentence {
		rules := map[string]sentence{}
		for _, name := range []string{"admin_api", "deckhand:list_tags", "deckhand:show_tag", "deckhand:show_audit"} {
			rules[name] = sentences(rules, 3).Draw(t, name)
		}
		return rules
	})
}

func textOf(rules map[string]sentence) []byte {
	texts := map[string]string{}
	for name, rule := range rules {
		texts[name] = rule.text
	}
	return asJSON(texts)
}

func asJSON(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

func TestLaw_verdicts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules, caller := policies().Draw(t, "rules"), callers().Draw(t, "caller")
		policy, err := Parse(textOf(rules), AdminsOnly)
		if err != nil {
			t.Fatal(err)
		}
		var passed []string
		for name, rule := range rules {
			if got, want := policy.Allows(name, caller), rule.verdict(caller); got != want {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
			if rule.verdict(caller) {
				passed = append(passed, name)
			}
		}
		for _, name := range passed {
			if !slices.Contains(policy.Passed(caller), name) {
				t.Errorf("%s is not among those that are passed", name)
			}
		}
	})
}

// Rules prints an equivalent policy file.
func TestLaw_printing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		policy, err := Parse(textOf(policies().Draw(t, "rules")), AdminsOnly)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(printed(policy), AdminsOnly)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(policy.Rules(), again.Rules()); diff != "" {
			t.Error(diff)
		}
		caller := callers().Draw(t, "caller")
		if diff := cmp.Diff(policy.Passed(caller), again.Passed(caller)); diff != "" {
			t.Error(diff)
		}
	})
}

func printed(policy *Policy) []byte {
	texts := map[string]string{}
	for _, r := range policy.Rules() {
		texts[r.Name] = r.Expression
	}
	return asJSON(texts)
}

// The old list form means the same as the new one.
func TestLaw_lists(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lists := rapid.SliceOfN(rapid.SliceOfN(atoms(nil), 0, 3), 1, 3).Draw(t, "lists")
		caller := callers().Draw(t, "caller")
		want, texts := false, make([][]string, len(lists))
		for i, list := range lists {
			all := len(list) > 0
			texts[i] = []string{}
			for _, atom := range list {
				all = all && atom.verdict(caller)
				texts[i] = append(texts[i], atom.text)
			}
			want = want || all
		}
		value := asJSON(texts)
		policy, err := Parse(fmt.Appendf(nil, `{"admin_api": %s}`, value), AdminsOnly)
		if err != nil {
			t.Fatal(err)
		}
		if got := policy.Allows(ListTags, caller); got != want {
			t.Errorf("%s: %v, want %v", value, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "admin_api: role:admin\n", "deckhand:list_tags: '@'\nx: \"!\"\n", "- a", "a: rule:b\nb: rule:a\ndefault: rule:a\n",
		`{"admin_api": [["role:a", "'b':%(user_id)s"], []], "deckhand:show_tag": "not (role:a or tenant:b) and @"}`,
		"admin_api: role:ä%%%(project_id)s AND (NOT 1:2)\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		policy, err := Parse(text, AdminsOnly)
		if err != nil {
			if policy != nil || err.Error() == "" {
				t.Errorf("%v with the error %q", policy, err)
			}
			return
		}
		again, err := Parse(printed(policy), AdminsOnly)
		if err != nil {
			t.Fatalf("%s\nprinted as %s: %v", text, printed(policy), err)
		}
		if diff := cmp.Diff(policy.Rules(), again.Rules()); diff != "" {
			t.Error(diff)
		}
		for _, caller := range []authn.Caller{admin, viewer, nobody} {
			if diff := cmp.Diff(policy.Passed(caller), again.Passed(caller)); diff != "" {
				t.Error(diff)
			}
		}
	})
}
