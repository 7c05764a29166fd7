package main

import (
	"strings"
	"testing"

	"purser/internal/client"
)

func TestPruneText(t *testing.T) {
	t.Parallel()
	for kept, want := range map[int]string{0: "0 revisions remain\n", 1: "1 revision remains\n", 2: "2 revisions remain\n"} {
		var b strings.Builder
		if pruneText(&b, client.Pruned{Kept: kept}); !strings.HasSuffix(b.String(), "; "+want) {
			t.Errorf("%q, want %q at its end", b.String(), want)
		}
	}
}
