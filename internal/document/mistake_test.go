package document

import (
	"strconv"
	"strings"
	"testing"
)

// No text makes findMistake panic, and each mistake has a rule and a position in the text.
func FuzzFindMistake(f *testing.F) {
	for _, text := range []string{
		"a: [b, {c: d}, \"e\\d\", 'f', *g, &h i]\n", "- - a: |2-\n     b\n", "? a\n: b", "&a !b c: *a", "--- >\n x\n...", "\ta: b", "%TAG",
		"a: \"\\",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found := findMistake(text, 1)
		if found != nil && (found.line < 1 || found.line > lineOf(text, len(text)) || found.column < 1 || found.rule == "") {
			t.Errorf("%q: %+v", text, found)
		}
	})
}

// findMistake reads each of many long repetitive texts only once.
func BenchmarkFindMistake(b *testing.B) {
	for _, part := range []string{
		"- ", "&a ", "!a ", "[", "[*a,", "{&a ", "\"", "''", "\"\\\\", "a:\n ", "- |\n  x\n", "a: b\n", "[\n", "# x\n", "\"a\":\n", "---\n",
		"\"a\n", "a: [\"x\n", "- - - a\n",
	} {
		for _, prefix := range []string{"", "[&a "} {
			text := []byte(prefix + strings.Repeat(part, (1<<20)/len(part)))
			b.Run(strconv.Quote(prefix+part), func(b *testing.B) {
				for b.Loop() {
					findMistake(text, 1)
				}
			})
		}
	}
}
