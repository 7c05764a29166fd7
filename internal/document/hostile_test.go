package document

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Nothing of four megabytes may keep the reader busy for long, whatever it is made of.
func TestDecode_boundedTime(t *testing.T) {
	t.Parallel()
	const size = 4<<20 - 64
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	inputs := map[string]string{
		"comments":        fill("#\n"),
		"comment":         "a: 1 #" + fill("#"),
		"comments inside": "a:\n" + fill("# x\n") + "  b: 1",
		"dashes":          fill("- "),
		"brackets":        fill("["),
		"braces":          fill("{"),
		"open map":        fill("{a: "),
		"anchors":         fill("&a "),
		"tags":            fill("!a "),
		"question marks":  fill("? "),
		"quotes":          fill("\"a\" "),
		"one quote":       "\"" + fill("a"),
		"escapes":         "\"" + fill("\\x41") + "\"",
		"blanks":          fill(" "),
		"tabs":            "a:" + fill("\t"),
		"newlines":        "a: |\n" + fill("\n"),
		"folded":          "a: >\n" + fill(" a\n"),
		"plain lines":     "a: b\n" + fill(" c\n"),
		"colons":          fill(":"),
		"keys":            fill("a: 1\n"),
		"aliases":         "a: &a 1\nb: [" + fill("*a,") + "]",
		"percent":         fill("%a\n"),
		"markers":         fill("---\n"),
		"ends":            fill("...\n"),
		"long key":        fill("k") + ": 1",
		"carriage return": fill("\r"),
		"indent":          indented(2000),
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			segments, err := Split([]byte(input), YAML, DefaultLimits())
			for _, segment := range segments {
				if err == nil {
					_, err = Decode(segment, DefaultLimits())
				}
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("took %v (outcome: %.100v)", took, err)
			}
			t.Logf("%v: %.150v", time.Since(began), err)
		})
	}
}

func indented(depth int) string {
	var b bytes.Buffer
	for i := range depth {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}
