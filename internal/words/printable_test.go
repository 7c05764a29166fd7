package words_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"purser/internal/words"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"a\tb\nc d":          {"a\tb\nc d", "a b c d"},
		"\x1b[31mred\r\n":    {"⟨U+001B⟩[31mred⟨U+000D⟩\n", "⟨U+001B⟩[31mred⟨U+000D⟩ "},
		"\u202eevil\u200b":   {"⟨U+202E⟩evil⟨U+200B⟩", "⟨U+202E⟩evil⟨U+200B⟩"},
		"\x85\u0085\u2028":   {"\uFFFD⟨U+0085⟩⟨U+2028⟩", "\uFFFD⟨U+0085⟩⟨U+2028⟩"},
		"ä€\U0001f600\u00a0": {"ä€\U0001f600\u00a0", "ä€\U0001f600 "},
	} {
		if got := [2]string{words.Printable(text), words.Line(text)}; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Invisible characters are shown, unless a script or an emoji needs them.
func TestPrintable_invisible(t *testing.T) {
	t.Parallel()
	for _, kept := range []string{"می\u200cخواهم", "क्\u200dष", "❤\ufe0f\u200d🔥", "👩\u200d👧", "e\u0301", "שָׁלוֹם", "日本"} {
		if got := words.Printable(kept); got != kept {
			t.Errorf("%q became %q", kept, got)
		}
	}
	for hidden, want := range map[string]string{
		"a\u200bb\u200dc\u200cd": "a⟨U+200B⟩b⟨U+200D⟩c⟨U+200C⟩d", "ad\u00admin": "ad⟨U+00AD⟩min", "a\ufe0fb": "a⟨U+FE0F⟩b",
		"🙂\ufe0f\ufe0f\ufe01": "🙂\ufe0f⟨U+FE0F⟩⟨U+FE01⟩", "👩\u200d\u200d": "👩\u200d⟨U+200D⟩", "a\U000e0061\U000e0100": "a⟨U+E0061⟩⟨U+E0100⟩",
		"a\ufe0f\u200d": "a⟨U+FE0F⟩⟨U+200D⟩", "\u3164\u115f\u034f": "⟨U+3164⟩⟨U+115F⟩⟨U+034F⟩", "\ue000\ufffe\ufeff": "⟨U+E000⟩⟨U+FFFE⟩⟨U+FEFF⟩",
		"\xc0\x80\xed\xa0\x80": strings.Repeat("\uFFFD", 5), "a" + strings.Repeat("\u0301", 10): "a" + strings.Repeat("\u0301", 8) + "⟨U+0301⟩⟨U+0301⟩",
	} {
		if got := words.Printable(hidden); got != want {
			t.Errorf("%q became %q, want %q", hidden, got, want)
		}
	}
}

// Printable text stays as it is, and escaped JSON text is printable.
func TestPrintable_stays(t *testing.T) {
	t.Parallel()
	alphabet := []rune("aé\n\u0301\u202e\u200c\u200d\ufe0e\ufe0f\U000e0001🙂म⟩ü\x1b\u0085")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.SampledFrom(alphabet), rapid.Rune())).Draw(t, "text")
		for _, shown := range []string{words.Printable(text), words.PrintableJSON(strings.ReplaceAll(text, "\r", ""))} {
			if again := words.Printable(shown); again != shown {
				t.Errorf("%q became %q, and then %q", text, shown, again)
			}
		}
	})
}

// PrintableJSON keeps the value of JSON text and leaves no characters that control a terminal.
func TestPrintableJSON(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "é 日本 😀", "\u009b31m", "a\u202eb\u2028c", "\x7f\u0085", "\U000e0001", "\x1b[0m\n", "👩\u200d👧", strings.Repeat("\u0301", 20)} {
		text, err := json.Marshal(map[string]string{"a": value})
		if err != nil {
			t.Fatal(err)
		}
		shown := words.PrintableJSON(string(text) + "\n")
		var got map[string]string
		if err := json.Unmarshal([]byte(shown), &got); err != nil || got["a"] != value {
			t.Errorf("%s became %s: %v", text, shown, err)
		}
		if shown != words.Printable(shown) {
			t.Errorf("%q is not printable", shown)
		}
	}
}
