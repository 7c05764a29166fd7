package words_test

import (
	"strings"
	"testing"

	"purser/internal/words"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"dry-run", "message", "max-deleted", "sort"}
	for word, want := range map[string]string{
		"dryrun":                     "dry-run",
		"dry_run":                    "dry-run",
		"dry-runs":                   "dry-run",
		"sort":                       "sort",
		"sorts":                      "sort",
		"srt":                        "sort",
		"max-delete":                 "max-deleted",
		"mesage":                     "message",
		"srot":                       "sort",
		"SORT":                       "sort",
		"Message":                    "message",
		"Max-Delete":                 "max-deleted",
		"other":                      "",
		"s":                          "",
		"":                           "",
		strings.Repeat("message", 9): "",
	} {
		if got := words.Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
