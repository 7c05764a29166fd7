package document

import (
	"slices"
	"testing"
)

func TestPointerSteps(t *testing.T) {
	t.Parallel()
	for fragment, want := range map[string][]string{
		"":                  nil,
		"definitions/a":     {"definitions", "a"},
		"a//b":              {"a", "", "b"},
		"a~1b/c~0d/~01":     {"a/b", "c~d", "~1"},
		"a%2Fb/%7E1/%20":    {"a", "b", "/", " "},
		"properties/%C3%A9": {"properties", "é"},
	} {
		if steps, ok := PointerSteps(fragment); !ok || !slices.Equal(steps, want) {
			t.Errorf("%q: %q, %v; want %q", fragment, steps, ok, want)
		}
	}
	if steps, ok := PointerSteps("a/%zz"); ok {
		t.Errorf("a malformed escape gives %q", steps)
	}
}
