package regex

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"purser/internal/budget"
)

// ordinary are expressions as they are used in practice.
var ordinary = []string{
	`foo`, `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`, `^\d+\.\d+\.\d+\.\d+$`,
	`^(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)(/([0-9]|[1-2][0-9]|3[0-2]))?$`,
	`^(([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|` +
		`([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|[0-9a-fA-F]{1,4}:((:[0-9a-fA-F]{1,4}){1,6})|:((:[0-9a-fA-F]{1,4}){1,7}|:))$`,
	`^(?P<major>0|[1-9]\d*)\.(?P<minor>0|[1-9]\d*)\.(?P<patch>0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$`,
	`(?i)^(true|false|yes|no|on|off)$`, `^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,62}$`, `(?i)[а-яё]+`, `^.{1,255}$`,
	`^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z]{2,63}$`, `\{\{[^}]*\}\}`, `^\Qa.b\E[[:alnum:]_]+$`,
}

func TestCompile(t *testing.T) {
	t.Parallel()
	const most = 4_000_000
	for _, text := range ordinary {
		if e, err := Compile(nil, text); err != nil || e.String() != text || e.Size > most/programSteps {
			t.Errorf("%s: %v", text, err)
		}
		if steps := priceOf(text).steps; steps > most {
			t.Errorf("%s costs %d steps", text, steps)
		}
	}
	for text, refusal := range map[string]string{
		strings.Repeat("a", MaxLength): "",
		strings.Repeat("a", MaxLength+1): "it has 4097 bytes, and at most 4096 are allowed; shorten it, or split it into " +
			"several",
		"[" + strings.Repeat(`\pL`, 1300) + "]": string(errTooLarge),
		"(?:(?:[a-z]{10}){10}){10}":             "",
		"(?:[a-z0-9]{30}x{20}){20}(?:[a-z]{50}){20}(?:[a-z]{500}x){2}(?:.{1000}){1}[a-z]{1000}": "",
		"(?:" + strings.Repeat("x", 40) + "){1000}":                                             string(errTooLarge),
		`(?i)[B-\x{1e942}][B-\x{1e942}]`:                                                        string(errTooLarge),
		"(":                                                                                     "error parsing regexp: missing closing ): `(`",
		"*":                                                                                     "error parsing regexp: missing argument to repetition operator: `*`",
		strings.Repeat("(a|b)", 40) + "(":                                                       "error parsing regexp: missing closing ): `" + strings.Repeat("(a|b)", 40) + "(`",
	} {
		for range 2 { // also when the outcome is known
			_, err := Compile(nil, text)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if said != refusal {
				t.Errorf("%.30s is refused with %q, want %q", text, said, refusal)
			}
		}
	}
}

// An expression is paid for once, also if it is refused.
func TestCompile_known(t *testing.T) {
	t.Parallel()
	steps := func(text string) int64 {
		ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
		defer end()
		m := budget.NewMeter(ctx)
		_, _ = Compile(m, text)
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		spent, _ := budget.From(ctx).Spent()
		return spent
	}
	for _, text := range []string{"known[a-z]{100}", "known(" + strings.Repeat("a", 100), `known[` + strings.Repeat(`\PN`, 900)} {
		first, second := steps(text), steps(text)
		want := int64(min(priceOf(text).steps, byteSteps*len(text)))
		if first < want || second > 5000 {
			t.Errorf("%.20s costs %d steps, then %d; its price is %d", text, first, second, want)
		}
	}
}

// The bounds of what the parser writes out are those of this version of Unicode.
func TestPrice_bounds(t *testing.T) {
	t.Parallel()
	for _, both := range [][2]map[string]*unicode.RangeTable{
		{unicode.Categories, unicode.FoldCategory}, {unicode.Scripts, unicode.FoldScript},
	} {
		for name, table := range both[0] {
			n := 1 + rangesIn(table)
			if folded := both[1][name]; folded != nil {
				n += rangesIn(folded)
			}
			if n > mostRanges {
				t.Errorf("%s has %d ranges", name, n)
			}
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.SimpleFold(r) != r && (r < firstCase || r > lastCase) {
			t.Fatalf("%U has another case", r)
		}
	}
}

// Many expressions stay known, however large they are while they are compiled.
func TestCompile_manyKnown(t *testing.T) {
	t.Parallel()
	var first, second [100]*Expression
	for _, round := range []*[100]*Expression{&first, &second} {
		for i := range round {
			round[i], _ = Compile(nil, fmt.Sprintf("many%d[%s]", i, strings.Repeat(`\pL`, 50)))
		}
	}
	if first != second || first[0] == nil {
		t.Error("some are compiled again")
	}
}

// genExpression returns an expression, which may be invalid.
func genExpression(depth int) *rapid.Generator[string] {
	atom := rapid.SampledFrom([]string{
		"a", "k", "é", "漢", ".", `\d`, `\w`, `\S`, "[a-z]", "[^a-z]", "[a-zA-Z0-9_.-]", `\pL`, `\PN`, `\p{Lu}`, `\p{^Greek}`,
		`[\pL\d]`, `[^\pL]`, `\x{10ffff}`, `[\x{100}-\x{400}]`, "[[:alpha:]]", "^", "$", `\b`, "foo", `[\]\-]`, "[]a]", "{", "[[:]",
		`\Q(?\E`, "[a", "(", ")", "|", "*", `\`, `\p`, `\x4`, "(?P<x>a)", "[^]]", `[\0-\x{1e942}]`,
	})
	if depth == 0 {
		return atom
	}
	sub := rapid.SliceOfN(genExpression(depth-1), 1, 5)
	return rapid.Custom(func(t *rapid.T) string {
		shape := rapid.SampledFrom([]string{"|", "(|)*", "(?:|){2,5}", "(?:|)?", "(?i:|)", "(?:|){3,}", "", "", ""}).Draw(t, "shape")
		before, after, ok := strings.Cut(shape, "|")
		if !ok {
			return strings.Join(sub.Draw(t, "parts"), "")
		}
		return before + strings.Join(sub.Draw(t, "alternatives"), "|") + after
	})
}

// The price covers the program, the outcome is the same as that of package regexp, and so are the matches.
func TestCompile_law(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := genExpression(rapid.IntRange(0, 4).Draw(t, "depth")).Draw(t, "text")
		price := priceOf(text)
		if len(text) > MaxLength || price.steps > maxSteps {
			return
		}
		got := compile(text, price)
		want, err := regexp.Compile(text)
		if (err == nil) != (got.err == nil) || err != nil && err.Error() != got.err.Error() {
			t.Fatalf("%s: %v, want %v", text, got.err, err)
		} else if err != nil {
			return
		}
		if n := instructions(t, text); n > 2*price.size { // empty parts have some that are not counted
			t.Errorf("%s has %d instructions, and its size is %d", text, n, price.size)
		}
		in := rapid.StringOfN(rapid.RuneFrom([]rune("akéф\nfoo(K{")), 0, 12, -1).Draw(t, "in")
		if g, w := got.FindStringIndex(in), want.FindStringIndex(in); (g == nil) != (w == nil) || g != nil && [2]int(g) != [2]int(w) {
			t.Errorf("%s in %q: %v, want %v", text, in, g, w)
		}
	})
}

// instructions returns the number of instructions of a program.
func instructions(t *rapid.T, text string) int {
	tree, err := syntax.Parse(text, syntax.Perl)
	program, errCompile := syntax.Compile(tree.Simplify())
	if err := errors.Join(err, errCompile); err != nil {
		t.Fatal(err)
	}
	return len(program.Inst)
}
