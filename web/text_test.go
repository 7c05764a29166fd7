package web

import "testing"

func TestExtent_cut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain\ttext\n": "plain\ttext\n", "Ünïcode 漢字 عربي": "Ünïcode 漢字 عربي", "a\u202eb": "a⟨U+202E⟩b", "a\x1b[0m": "a⟨U+001B⟩[0m",
		"\u2066\u200b\ufeff": "⟨U+2066⟩⟨U+200B⟩⟨U+FEFF⟩", "a\u2028b": "a⟨U+2028⟩b",
	} {
		if got := shownLine.cut(text); got != want {
			t.Errorf("cut(%q) is %q, want %q", text, got, want)
		}
	}
}
