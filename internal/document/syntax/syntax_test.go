package syntax_test

import (
	"strconv"
	"strings"
	"testing"

	"purser/internal/document/syntax"
)

// No text makes Find panic, and each mistake has a message and an offset in the text.
func FuzzFind(f *testing.F) {
	for _, text := range []string{
		"a: [b, {c: d}, \"e\\d\", 'f', *g, &h i]\n", "- - a: |2-\n     b\n", "? a\n: b", "&a !b c: *a", "--- >\n x\n...", "\ta: b", "%TAG",
		"a: \"\\",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if found := syntax.Find(text, 1); found != nil && (found.Offset < 0 || found.Offset > len(text) || found.Rule == "") {
			t.Errorf("%q: %+v", text, found)
		}
	})
}

// Find reads each of many long repetitive texts only once.
func BenchmarkFind(b *testing.B) {
	for _, part := range []string{
		"- ", "&a ", "!a ", "[", "[*a,", "{&a ", "\"", "''", "\"\\\\", "a:\n ", "- |\n  x\n", "a: b\n", "[\n", "# x\n", "\"a\":\n", "---\n",
		"\"a\n", "a: [\"x\n", "- - - a\n",
	} {
		for _, prefix := range []string{"", "[&a "} {
			text := []byte(prefix + strings.Repeat(part, (1<<20)/len(part)))
			b.Run(strconv.Quote(prefix+part), func(b *testing.B) {
				for b.Loop() {
					syntax.Find(text, 1)
				}
			})
		}
	}
}
