package authz

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/authn"
)

// world is all that an expression may look at.
type world struct {
	authn.Caller

	target Target
}

// sentence is a generated expression and a straightforward evaluation of its meaning.
type sentence struct {
	text    string
	verdict func(world) bool
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

// targets generates targets without a missing attribute.
func targets() *rapid.Generator[Target] {
	id := rapid.SampledFrom([]string{"a", "b", "A"})
	return rapid.Custom(func(t *rapid.T) Target {
		return Target{id.Draw(t, "site"), id.Draw(t, "validation"), id.Draw(t, "author")}
	})
}

// atoms generates checks without operators. above are the rules that they may refer to.
func atoms(above map[string]sentence) *rapid.Generator[sentence] {
	is := func(text string, verdict func(c world) bool) sentence { return sentence{text, verdict} }
	atoms := []sentence{
		is("@", func(world) bool { return true }),
		is("!", func(world) bool { return false }),
		is("role:a", func(c world) bool { return slices.Contains(c.Roles, "a") || slices.Contains(c.Roles, "A") }),
		is("role:B", func(c world) bool { return slices.Contains(c.Roles, "b") }),
		is("role:%(user_id)s", func(c world) bool {
			return slices.ContainsFunc(c.Roles, func(r string) bool { return strings.EqualFold(r, cmp.Or(c.UserID, none)) })
		}),
		is("user_id:a", func(c world) bool { return c.UserID == "a" }),
		is("user_name:%(user_id)s", func(c world) bool { return c.UserName == c.UserID }),
		is("tenant:b", func(c world) bool { return c.ProjectID == "b" }),
		is("domain_id:%(project_id)s", func(c world) bool { return c.DomainID == c.ProjectID }),
		is("'a':%(project_id)s", func(c world) bool { return c.ProjectID == "a" }),
		is("project:None", func(c world) bool { return c.ProjectID == "" }),
		is("role:%(validation)s", func(c world) bool {
			return slices.ContainsFunc(c.Roles, func(r string) bool { return strings.EqualFold(r, c.target.Validation) })
		}),
		is("user_id:%(author)s", func(c world) bool { return cmp.Or(c.UserID, none) == c.target.Author }),
		is("'ba':b%(author)s", func(c world) bool { return c.target.Author == "a" }),
		is("'%a':%%%(author)s", func(c world) bool { return c.target.Author == "a" }),
		is("'b':%(site)s", func(c world) bool { return c.target.Site == "b" }),
		is("roles:A", func(c world) bool { return slices.Contains(c.Roles, "A") }),
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
		whole.verdict = func(c world) bool {
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
			return sentence{"not" + blank(t) + inner.text, func(c world) bool { return !inner.verdict(c) }}
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
		rules, about := policies().Draw(t, "rules"), world{callers().Draw(t, "caller"), targets().Draw(t, "target")}
		policy, err := Parse(textOf(rules), AdminsOnly)
		if err != nil {
			t.Fatal(err)
		}
		passed, depending := policy.Passed(about.Caller, about.target)
		for name, rule := range rules {
			got, want := policy.Decide(name, about.Caller, about.target), rule.verdict(about)
			if got != Allowed && want || got != Refused && !want || slices.Contains(passed, name) != want {
				t.Errorf("%s: %v, want %v; passed %q", name, got, want, passed)
			}
		}
		if len(depending) > 0 {
			t.Errorf("nothing is missing, and %q depend", depending)
		}
	})
}

// A right that a caller has without knowledge of what is asked for, or lacks, is as it is with it; the author is asked for
// only if the verdict depends on that.
func TestLaw_missingAttributes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules, caller, target := policies().Draw(t, "rules"), callers().Draw(t, "caller"), targets().Draw(t, "target")
		policy, err := Parse(textOf(rules), AdminsOnly)
		if err != nil {
			t.Fatal(err)
		}
		less := target
		for _, attribute := range []*string{&less.Site, &less.Validation, &less.Author} {
			if rapid.Bool().Draw(t, "missing") {
				*attribute = ""
			}
		}
		for name := range rules {
			before, after := policy.Decide(name, caller, less), policy.Decide(name, caller, target)
			if before != Depends && before != after {
				t.Errorf("%s: %v with %+v, and %v with %+v", name, before, less, after, target)
			}
			if before == Depends && len(policy.Attributes(name)) == 0 {
				t.Errorf("%s depends on nothing", name)
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
		if diff := gocmp.Diff(policy.Rules(), again.Rules()); diff != "" {
			t.Error(diff)
		}
		caller := callers().Draw(t, "caller")
		if diff := gocmp.Diff(passed(policy, caller), passed(again, caller)); diff != "" {
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
		caller, target := callers().Draw(t, "caller"), targets().Draw(t, "target")
		want, texts := false, make([][]string, len(lists))
		for i, list := range lists {
			all := len(list) > 0
			texts[i] = []string{}
			for _, atom := range list {
				all = all && atom.verdict(world{caller, target})
				texts[i] = append(texts[i], atom.text)
			}
			want = want || all
		}
		value := asJSON(texts)
		policy, err := Parse(fmt.Appendf(nil, `{"admin_api": %s}`, value), AdminsOnly)
		if err != nil {
			t.Fatal(err)
		}
		if got := policy.Decide(ListTags, caller, target) == Allowed; got != want {
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
		if diff := gocmp.Diff(policy.Rules(), again.Rules()); diff != "" {
			t.Error(diff)
		}
		for _, caller := range []authn.Caller{admin, viewer, nobody} {
			if diff := gocmp.Diff(passed(policy, caller), passed(again, caller)); diff != "" {
				t.Error(diff)
			}
		}
	})
}
