package words_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"purser/internal/words"
)

func TestFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text              string
		n                 int
		characters, bytes string
	}{
		{"", 0, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abc", 2, "ab…", "ab…"},
		{"abc", 0, "…", "…"},
		{"äöü", 3, "äöü", "ä…"},
		{"äöü", 2, "äö…", "ä…"},
		{"a\xff\xff", 2, "a\xff…", "a\xff…"},
		{"\x80\x80\x80", 2, "\x80\x80…", "…"},
	} {
		if got := words.First(c.text, c.n); got != c.characters {
			t.Errorf("%q: the first %d characters are %q, want %q", c.text, c.n, got, c.characters)
		}
		if got := words.FirstBytes(c.text, c.n); got != c.bytes {
			t.Errorf("%q: the first %d bytes are %q, want %q", c.text, c.n, got, c.bytes)
		}
	}
}

// A truncated text is a prefix of the whole text and has whole characters.
func TestFirst_bounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, n := rapid.String().Draw(t, "text"), rapid.IntRange(0, 20).Draw(t, "n")
		for name, of := range map[string]struct {
			cut  string
			size int
		}{
			"characters": {words.First(text, n), utf8.RuneCountInString(text)},
			"bytes":      {words.FirstBytes(text, n), len(text)},
		} {
			begin, isCut := strings.CutSuffix(of.cut, "…")
			switch {
			case of.size <= n:
				if of.cut != text {
					t.Errorf("%d %s of %q: %q", n, name, text, of.cut)
				}
			case !isCut || !strings.HasPrefix(text, begin) || !utf8.ValidString(begin) || len(begin) > n*utf8.UTFMax:
				t.Errorf("%d %s of %q: %q", n, name, text, of.cut)
			}
		}
	})
}

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 documents", 1: "1 document", 2: "2 documents"} {
		if got := words.Count(n, "document"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestStorable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a\nb\x1b": "a\nb\x1b", "a\x00\x00b": "a\uFFFD\uFFFDb", "\xff\xfea\xe4": "\uFFFDa\uFFFD", "ä\u2028": "ä\u2028",
	} {
		if got := words.Storable(text); got != want {
			t.Errorf("Storable(%q) = %q, want %q", text, got, want)
		}
	}
}
