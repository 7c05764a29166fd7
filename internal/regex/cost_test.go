package regex

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"purser/internal/budget/budgettest"
)

// distinct returns n expressions of the same form for different characters.
func distinct(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, rune(0x4e00+2*i))
	}
	return b.String()
}

// shapes are the worst known expressions, each expensive in its own way.
func shapes() map[string]string {
	times := strings.Repeat
	return map[string]string{
		"characters": times("a", 4096), "folded characters": "(?i)" + times("é", 400), "dots": times(".", 4000),
		"groups": times("()", 2000), "nested groups": times("(", 900) + times(")", 900), "stars": times("a*", 2000),
		"nested options": times("(?:", 900) + "a" + times(")?", 800), "flags": times("(?i)", 1000), "empty groups": times("(?:)", 1000),
		"repeats": times("a{2}", 1000), "a repeated text": "(?:" + times("a", 30) + "){1000}", "braces": times("{", 4000),
		"repeated options": "(?:(?:" + times("a?", 50) + "){10}){20}", "optional repeats": "(?:" + times("a", 14) + "){0,1000}",
		"one-pass loop": "^(?:" + distinct(330, "%cx|") + "a)*$", "one-pass options": "^" + distinct(600, "%c?") + "$",
		"one-pass options in a loop": "^(?:" + distinct(330, "%c?") + "a)*$", "small one-pass loop": "^(?:" + distinct(9, "%cx|") + "a)*$",
		"small one-pass options": "^" + distinct(18, "%c?") + "$", "one-pass classes": `^\pL{900}$`,
		"small one-pass classes": `^(?:\pLx|[\pN\pP]y|[\pS]z|\pZa)*$`, "alternatives": times("ab|", 1300), "factored": times("abc|abd|", 500),
		"factored dots": times(times(".", 60)+"a|", 30), "factored twice": times("a.", 100) + "|" + times("a.", 100),
		"nested alternatives": times("(?:a|", 800) + "b" + times(")", 800), "factored within one another": times("(?:.|a.", 400) + "b" + times(")", 400),
		"letters": times(`\pL`, 40), "letters in a class": "[" + times(`\pL`, 40) + "]", "alternative letters": times(`\pL|`, 40),
		"no letters": times(`[^\pL]`, 40), "folded letters": "(?i)" + times(`\p{Lu}`, 20), "unassigned": times(`\P{Cn}`, 40),
		"scripts": times(`\p{Greek}`, 400), "small categories": times(`\pZ`, 1300), "in classes": times(`[\pZ]|x`, 500),
		"words": times(`\w`, 1300), "alternative words": times(`\w|`, 1300), "folded words": "(?i)" + times(`\w`, 300),
		"spaces in a class": "[" + times(`\S`, 1000) + "]", "a folded range": `(?i)[B-\x{1e942}]`, "a folded class": "(?i)[" + times("ac", 2000) + "]",
		"a class": "[" + times("ac", 2000) + "]", "a class in disorder": "[" + distinct(600, "%cb") + "]", "classes": times("[ab]", 1000),
		"names in a class": "[" + times("[:", 1000) + "]", "no name": "[[:" + times("a", 3000), "no brace": times(`\p{`, 1000),
		"numbers": times(`\x{10ffff}`, 400), "names": times("(?P<a>b)", 500), "an error at the end": times("(a|b)", 800) + "(",
		"a quotation": `\Q` + times("a", 4000), "quotations": times(`\Qa\E`, 800), "lines": times("^|", 2000), "words' ends": times(`\b`, 2000),
	}
}

// random returns a random expression.
func random(r *rand.Rand, depth int) string {
	if depth == 0 {
		atoms := []string{
			"a", "é", "漢", ".", `\d`, `\w`, `\S`, `[a-z]`, `[^a-z]`, `[a-zA-Z0-9_.-]`, `\pL`, `\PN`, `\p{Lu}`, `\p{Greek}`,
			`[\pL\d]`, `[^\pL]`, `[\x{100}-\x{400}]`, "[[:alpha:]]", "^", "$", `\b`, "foo",
		}
		return atoms[r.IntN(len(atoms))]
	}
	parts := make([]string, 1+r.IntN(6))
	for i := range parts {
		parts[i] = random(r, depth-1)
	}
	shapes := []string{"(|)", "(?:|)*", "(?:|)+?", "(?:|){2,5}", "(?:|){,}", "(?i:|)", "|", "", "", ""}
	before, after, ok := strings.Cut(shapes[r.IntN(len(shapes))], "|")
	if !ok {
		return strings.Join(parts, "")
	}
	return before + strings.Join(parts, "|") + after
}

// A step of the price is about as long as one of an ordinary expression at most, and the memory is bounded.
//
//nolint:paralleltest // it measures the whole process
func TestPrice(t *testing.T) {
	all := shapes()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		all[fmt.Sprint("random ", i)] = random(r, 1+i%4)
	}
	usual := perStep(ordinary[1], 0)
	most := 3 * max(1, usual)
	for name, text := range all {
		p := priceOf(text)
		if p.steps > maxSteps {
			continue
		}
		took := perStep(text, most)
		if took > most {
			t.Errorf("%s: a step takes %.1f ns, %.1f in an ordinary expression; %d steps, %d bytes",
				name, took, usual, p.steps, len(text))
		}
		const mostAllocated = 8 << 20
		var allocated, kept, want int
		if budgettest.Least(0, func() int {
			allocated, kept, want = memory(text)
			return max(allocated-mostAllocated, kept-2*want-1<<16)
		}) > 0 {
			t.Errorf("%s: %d bytes are allocated, and %d kept instead of %d", name, allocated, kept, want)
		}
	}
}

// perStep returns the nanoseconds of CPU per step: the first measurement that is enough, or the least.
func perStep(text string, enough float64) float64 {
	const while = 2 * time.Millisecond
	p := priceOf(text)
	return budgettest.Least(enough, func() float64 {
		began, rounds := budgettest.CPU(), 0
		for ; budgettest.CPU()-began < while; rounds++ {
			compile(text, priceOf(text))
		}
		return float64(budgettest.CPU()-began) / float64(rounds*p.steps)
	})
}

// memory returns the bytes that are allocated to compile an expression, those that it keeps, and those that it should.
func memory(text string) (allocated, kept, want int) {
	var before, after, collected runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	found := compile(text, priceOf(text))
	runtime.ReadMemStats(&after)
	runtime.GC()
	runtime.ReadMemStats(&collected)
	runtime.KeepAlive(found)
	return int(after.TotalAlloc - before.TotalAlloc), int(collected.HeapAlloc) - int(before.HeapAlloc), found.size()
}
