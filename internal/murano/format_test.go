package murano

import (
	"bytes"
	"testing"
)

// Names and messages from a package cannot control a terminal.
func TestWrite_escapes(t *testing.T) {
	t.Parallel()
	issue := Issue{File: "a\x1b]0;x\x07b", Code: "E002", Message: "m\x1b[2J\u202e", Located: true, Source: "s\x9b1m\tx"}
	var out bytes.Buffer
	results := []PathReport{{Path: "p", Report: Report{Issues: []Issue{issue}}}}
	if err := Write(&out, "text", results, nil); err != nil {
		t.Fatal(err)
	}
	const want = "a⟨U+001B⟩]0;x⟨U+0007⟩b:1:1: E002 m⟨U+001B⟩[2J⟨U+202E⟩\n    s\ufffd1m\tx\n    ^\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
