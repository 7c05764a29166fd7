package words_test

import (
	"testing"

	"purser/internal/words"
)

func TestSentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", " \n": "", "no disk": "No disk.", " It fails\n": "It fails.", "why?": "Why?", "'x' is no number": "'x' is no number.",
	} {
		if got := words.Sentence(text); got != want {
			t.Errorf("Sentence(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	for want, of := range map[string][]string{
		"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"},
	} {
		if got := words.List(of); got != want {
			t.Errorf("List(%q) = %q, want %q", of, got, want)
		}
	}
}
