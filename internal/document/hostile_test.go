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
		"digits":          "a: 1" + fill("9"),
		"sexagesimal":     "a: 1" + strings.Repeat(":1", 199_000),
		"duplicates":      "{" + strings.Repeat("a: 1, ", 49_000) + "}",
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

// The cost of a JSON mapping grows with its keys, not with their square, on many lines and with duplicates too.
func TestDecode_linearJSON(t *testing.T) {
	t.Parallel()
	const few, times = 3_000, 16 // the square would take 256 times as long
	small, large := time.Hour, time.Hour
	for range 10 { // what else the machine does only adds to the time
		small, large = min(small, decodeJSON(t, few)), min(large, decodeJSON(t, few*times))
		if large <= 5*times*small {
			return
		}
	}
	t.Errorf("%d keys take %v, and %d times as many %v", few, small, times, large)
}

// decodeJSON takes the time to decode a mapping.
func decodeJSON(t *testing.T, keys int) time.Duration {
	t.Helper()
	var body strings.Builder
	for i := range keys {
		fmt.Fprintf(&body, ",\n\"%d\": \"some words that make it longer\"", i%(keys-keys/8))
	}
	segments, err := Split([]byte("[{"+body.String()[1:]+"}]"), JSON, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	entry, err := Decode(segments[0], DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if len(entry.Notes) != mostNotes {
		t.Errorf("%d notes, want %d", len(entry.Notes), mostNotes)
	}
	return time.Since(began)
}

func indented(depth int) string {
	var b bytes.Buffer
	for i := range depth {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}
