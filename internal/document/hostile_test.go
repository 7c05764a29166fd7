package document

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"purser/internal/budget"
	"purser/internal/fault"
)

// Decoding four megabytes costs no more steps than are granted for that size, whatever the bytes are, and releases the
// memory that it held.
func TestDecode_hostile(t *testing.T) {
	t.Parallel()
	const size = 4<<20 - 64
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	for name, input := range map[string]string{
		"comments":        fill("#\n"),
		"comment":         "a: 1 #" + fill("#"),
		"comments inside": "a:\n" + fill("# x\n") + "  b: 1",
		"dashes":          fill("- "),
		"brackets":        fill("["),
		"braces":          fill("{"),
		"open map":        fill("{a: "),
		"anchors":         fill("&a "),
		"tags":            fill("!a "),
		"question marks":  fill("? "),
		"quotes":          fill("\"a\" "),
		"one quote":       "\"" + fill("a"),
		"escapes":         "\"" + fill("\\x41") + "\"",
		"blanks":          fill(" "),
		"tabs":            "a:" + fill("\t"),
		"newlines":        "a: |\n" + fill("\n"),
		"folded":          "a: >\n" + fill(" a\n"),
		"plain lines":     "a: b\n" + fill(" c\n"),
		"colons":          fill(":"),
		"keys":            fill("a: 1\n"),
		"aliases":         "a: &a 1\nb: [" + fill("*a,") + "]",
		"percent":         fill("%a\n"),
		"markers":         fill("---\n"),
		"ends":            fill("...\n"),
		"long key":        fill("k") + ": 1",
		"carriage return": fill("\r"),
		"indent":          indented(2000),
		"digits":          "a: 1" + fill("9"),
		"numbers":         "[" + fill(strings.Repeat("1", maxNumber)+", ") + "]",
		"sexagesimal":     "a: 1" + strings.Repeat(":1", 199_000),
		"duplicates":      "{" + strings.Repeat("a: 1, ", 49_000) + "}",
		"tag directives":  strings.Repeat("%TAG !a! b\n", 1_000) + "---\n[" + strings.Repeat("!a!a b,", 40_000) + "]",
		"merge keys":      merges(400),
		"alias bomb":      aliasBomb(40),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
			defer end()
			_, _, err := readAllIn(ctx, input, YAML)
			steps, bytes := budget.From(ctx).Spent()
			if steps > 2*budget.Second {
				t.Errorf("%d steps (outcome: %.100v)", steps, err)
			}
			if bytes != 0 {
				t.Errorf("%d bytes are not given back", bytes)
			}
			if err != nil && len(err.Error()) > 500 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
		})
	}
}

// merges returns a chain of mappings, each of which merges the previous one.
func merges(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 {k0: 1}\n")
	for i := range n {
		fmt.Fprintf(&b, "a%d: &a%d {<<: *a%d, k%d: 1}\n", i+1, i+1, i, i+1)
	}
	return b.String()
}

func aliasBomb(levels int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x]\n")
	for i := range levels {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	return b.String()
}

// The steps are proportional to the bytes, separators and values of a document, whichever reader decodes it.
func TestDecode_steps(t *testing.T) {
	t.Parallel()
	const n = 10_000
	const split = splitSteps + byteSteps // for each byte
	const fast = splitSteps + plainByteSteps
	pairs := "{" + strings.Repeat("\"k\": 5,", n-1) + "\"k\": 5}"
	text, numbers := "'"+strings.Repeat("x", n)+"'", "["+strings.Repeat("1.5,", n)+"]"
	items, small := "["+strings.Repeat("a,", n)+"]", strings.Repeat("---\na: b\n", n)
	for name, c := range map[string]struct {
		body   string
		media  Media
		strict bool
		want   int
	}{
		"text":               {text, YAML, true, n*split + valueSteps},
		"numbers":            {numbers, YAML, true, 4*n*split + n*(markSteps+valueSteps+3*numberSteps)},
		"items":              {items, YAML, true, 2*n*split + n*(markSteps+valueSteps)},
		"many, small":        {small, YAML, true, 9*n*split + n*(textSteps+4*markSteps+3*valueSteps)},
		"plain text":         {text, YAML, false, n*fast + valueSteps},
		"plain numbers":      {numbers, YAML, false, 4*n*fast + n*(valueSteps+3*numberSteps)},
		"plain items":        {items, YAML, false, 2*n*fast + n*valueSteps},
		"plain, many, small": {small, YAML, false, 9*n*fast + n*3*valueSteps},
		"aliases":            {"[&a [b, b]" + strings.Repeat(",*a", n) + "]", YAML, false, 3*n*(split+plainByteSteps) + n*(markSteps+4*valueSteps)},
		"declined at the end": {
			"[" + strings.Repeat("a,", n) + "&b c]", YAML, false, 2*n*(split+plainByteSteps) + n*(markSteps+2*valueSteps),
		},
		"duplicates": {pairs, YAML, true, len(pairs)*split + n*(2*markSteps+2*valueSteps+numberSteps)},
		"JSON pairs": {pairs, JSON, false, len(pairs)*split + n*(2*jsonMarkSteps+2*valueSteps+numberSteps)},
		"JSON items": {"[{}" + strings.Repeat(",{}", n) + "]", JSON, false, 3*n*split + n*(itemSteps+jsonMarkSteps+valueSteps)},
		"directive": {
			"%TAG !e! " + strings.Repeat("a", 1000) + "\n--- '" + strings.Repeat("!", n) + "'", YAML, false,
			n * (split + readableSteps + 1000 + directiveSteps),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
			defer end()
			limits := DefaultLimits()
			limits.Strict = c.strict
			_, _, _ = readAllWithin(ctx, c.body, c.media, limits)
			steps, _ := budget.From(ctx).Spent()
			if want := int64(c.want); steps < want*9/10 || steps > want*11/10+100_000 {
				t.Errorf("%d steps, want about %d", steps, want)
			}
		})
	}
}

// Exceeding the budget is a fault that says in which document.
func TestDecode_budget(t *testing.T) {
	t.Parallel()
	pair := func(i int) string {
		return fmt.Sprintf("--- # %d\nschema: s\nmetadata: {name: n}\n%s", i, aliasBomb(13))
	}
	var body strings.Builder
	for i := range 1000 {
		body.WriteString(pair(i))
	}
	for name, c := range map[string]struct {
		body string
		want string
	}{
		"steps": {body.String(), "): it takes more than 2.0 s of work"},
		"memory": {
			"%TAG !e! " + strings.Repeat("a", maxTagPrefix) + "\n---\n" + strings.Repeat("- !e!a b\n", 95_000),
			"the body: it takes more than 256 MiB of memory",
		},
		"plain":                  {strings.Repeat("---\nschema: s\nmetadata:\n  name: n\ndata: ["+strings.Repeat("1.5, ", 1000)+"]\n", 4000), "): it takes more than 2.0 s of work"},
		"memory of a whole body": {"%TAG ! x\n" + body.String()[:100_000], "): it takes more than 256 MiB of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
			defer end()
			_, _, err := readAllIn(ctx, c.body, YAML)
			if fault.KindOf(err) != fault.TooLarge || !strings.Contains(err.Error(), c.want) {
				t.Errorf("refused with %.300v", err)
			}
			if steps, _ := budget.From(ctx).Spent(); steps > 2*budget.Second+budget.Second/10 {
				t.Errorf("%d steps", steps)
			}
		})
	}
}

// The library copies the prefix of a %TAG directive for every tag that uses it, so long prefixes are refused, wherever
// YAML may find a directive.
func TestSplit_tagPrefix(t *testing.T) {
	t.Parallel()
	directive := "%TAG !e! " + strings.Repeat("a", 400_000)
	uses := "\n---\n" + strings.Repeat("- !e!b c\n", 6000)
	for name, body := range map[string]string{
		"first":            directive + uses,
		"second":           "%TAG !f! a\n" + directive + uses,
		"later":            "a: 1\n...\n" + directive + uses,
		"after CR":         "--- a\n...\r" + directive + uses,
		"after NEL":        "---\n# a\u0085" + directive + uses,
		"after LS":         "---\n# a\u2028" + directive + uses,
		"after a mark":     "--- a\n...\n\ufeff" + directive + uses,
		"blanks":           "%TAG" + strings.Repeat(" ", 10_000) + directive[4:] + uses,
		"a long handle":    "%TAG !" + strings.Repeat("e", 10_000) + directive[7:] + uses,
		"behind a comment": "# a\n" + directive + uses,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
			defer end()
			_, _, err := readAllIn(ctx, body, YAML)
			requireRefusal(t, nil, err, "the prefix of a %TAG directive has more than 1000 bytes")
			if steps, _ := budget.From(ctx).Spent(); steps > budget.Second/20 || len(err.Error()) > 300 {
				t.Errorf("%d steps, a message of %d bytes", steps, len(err.Error()))
			}
		})
	}
}

// Messages quote only a short part of a text.
func TestDecode_briefMessages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 1<<20)
	for name, c := range map[string]struct {
		body  string
		media Media
	}{
		"tag of a scalar":  {"!" + long + " b", YAML},
		"tag of a list":    {"!" + long + " [b]", YAML},
		"tag of a mapping": {"!" + long + " {b: c}", YAML},
		"unknown alias":    {"[*" + long + "]", YAML},
		"own alias":        {"&" + long + " [*" + long + "]", YAML},
		"number":           {strings.Repeat("1", 1<<20), YAML},
		"key":              {"{? [" + long + "] : 1}", YAML},
		"JSON number":      {"[{\"a\": " + strings.Repeat("1", 1<<20) + "}]", JSON},
		"with a directive": {"%TAG ! x\n--- [*" + long + "]", YAML},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := readAllIn(t.Context(), c.body, c.media); err == nil || len(err.Error()) > 500 {
				t.Errorf("refused with %.600v", err)
			}
		})
	}
}

// A document has at most maxNotes notes about duplicate keys.
func TestDecode_manyDuplicates(t *testing.T) {
	t.Parallel()
	for media, lines := range map[Media]string{YAML: ",\n  k: 1", JSON: ",\n  \"k\": 1"} {
		_, notes, err := readAllIn(t.Context(), "[{"+strings.Repeat(lines, 1000)[1:]+"}]", media)
		if err != nil || len(notes) != maxNotes {
			t.Errorf("%d notes, want %d (%v)", len(notes), maxNotes, err)
		}
	}
}

func indented(depth int) string {
	var b bytes.Buffer
	for i := range depth {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}
