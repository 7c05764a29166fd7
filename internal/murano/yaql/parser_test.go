package yaql_test

import (
	"strings"
	"testing"

	"purser/internal/murano/yaql"
)

// Expressions and whether YAQL accepts them.
const (
	valid = "1.2.3 · 1 .5 · 1.a() · --1 · a.not b · $.not a · $.and() · not(a) · a and not(b) · \"a\"in$x · 'a'mod'b' · " +
		"1--1 · a.-b · a.[1] · $.[0] · $.a[] · f(,1) · f(1,,2) · f(1,,a=>2) · f(1=>2) · [a=>1] · {1} · a = b = c · " +
		"a < b < c · a = not b · $->$ · __a() · $__a · 10.0.0.0/24 · 2016-01-01 · yes/no · {{jinja}} · - item · $a = 1 · " +
		"foo/bar.sh · привет · '\\N{LATIN SMALL LETTER A}' · '\\x' · `\\xzz`"
	validMPL = "{a: 1} · {\"a\": 1} · a::b · :Foo · 12:30:00"
	validUI  = "$.is"
	invalid  = " · () · 1. · .5 · 1e5 · 0x1F · 12a · a == b · a <> b · a && b · !a · f (1) · f()() · $f(1) · f(1,) · [1,] · " +
		"f(,) · f(a=>1,2) · a => 1 · (a => 1) · (1, 2) · a in(b) · a and(b) · a is(b) · $.in · $.mod · mod · $$ · $a b · " +
		"a not in b · __a · a..b · a? .b · x{} · a: · =:Cls · http://h · 'a''b' · '\\' · $x # c · a;b · a@b · ${v} · $(c) · " +
		"a b · e\u0301 · \u00a0 · Hello world · f(,,a=>1) · f(1,,,a=>2) · " +
		`'\xzz' · '\uzzzz' · '\UFFFFFFFF' · '\N{NO SUCH NAME}'`
)

func TestValid(t *testing.T) {
	t.Parallel()
	check := func(list string, engine yaql.Engine, want bool) {
		for text := range strings.SplitSeq(list, " · ") {
			if got := yaql.Valid(text, engine); got != want {
				t.Errorf("Valid(%q, engine %d) = %v, want %v", text, engine, got, want)
			}
		}
	}
	for _, engine := range []yaql.Engine{yaql.MPL, yaql.UI} {
		check(valid, engine, true)
		check(invalid, engine, false)
	}
	check(validMPL, yaql.MPL, true)
	check(validMPL, yaql.UI, false)
	check(validUI, yaql.UI, true)
	check(validUI, yaql.MPL, false)
}

func TestParse_Errors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"$.a(":      "unexpected end",
		"é b":       `unexpected "b" at position 2`,
		"$a ~":      `unexpected "~" at position 3`,
		"f(1)) # 1": `unexpected ")" at position 4`,
		strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000): `unexpected "(" at position 500`,
	} {
		if _, err := yaql.Parse(text, yaql.MPL); err == nil || err.Error() != want {
			t.Errorf("Parse(%.20q): %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for text := range strings.SplitSeq(valid+" · "+validMPL+" · "+invalid, " · ") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, engine := range []yaql.Engine{yaql.MPL, yaql.UI} {
			node, err := yaql.Parse(text, engine)
			if (node == nil) == (err == nil) {
				t.Fatalf("Parse(%q) = %v, %v", text, node, err)
			}
			if err == nil && !yaql.Valid("("+text+"\n)", engine) {
				t.Errorf("%q is an expression, but not in parentheses", text)
			}
		}
	})
}
