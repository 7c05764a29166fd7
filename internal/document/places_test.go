package document

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// mistakes are common mistakes in a line such as "  key: value": the changed text, and the line in it of the mistake.
var mistakes = map[string]func(l keyLine) (becomes string, line int){
	"tab":              func(l keyLine) (string, int) { return l.indented("\t") + l.key + ": " + l.value, 0 },
	"spaces and a tab": func(l keyLine) (string, int) { return l.indented(l.indent+"\t") + l.key + ": " + l.value, 0 },
	"indented by one more": func(l keyLine) (string, int) {
		return l.later(" "+l.indent) + l.key + ": " + l.value, 0
	},
	"indented by four more": func(l keyLine) (string, int) {
		return l.later("    "+l.indent) + l.key + ": " + l.value, 0
	},
	"indented by one less": func(l keyLine) (string, int) {
		return l.later(strings.TrimPrefix(l.indent, " ")) + l.key + ": " + l.value, 0
	},
	"unclosed double quote": func(l keyLine) (string, int) { return l.start + l.key + `: "text`, 0 },
	"unclosed single quote": func(l keyLine) (string, int) { return l.start + l.key + `: 'text`, 0 },
	"unclosed bracket":      func(l keyLine) (string, int) { return l.start + l.key + ": [a, b", 0 },
	"unclosed brace":        func(l keyLine) (string, int) { return l.start + l.key + ": {a: b", 0 },
	"bracket and brace":     func(l keyLine) (string, int) { return l.start + l.key + ": [{a: b]", 0 },
	"missing comma":         func(l keyLine) (string, int) { return l.start + l.key + ": {a: b c: d}", 0 },
	"missing colon":         func(l keyLine) (string, int) { return l.start + l.key + " text", 0 },
	"no space after colon":  func(l keyLine) (string, int) { return l.start + l.key + ":text", 0 },
	"unknown alias":         func(l keyLine) (string, int) { return l.start + l.key + ": *nowhere", 0 },
	"unknown alias as key":  func(l keyLine) (string, int) { return l.start + "*nowhere: " + l.value, 0 },
	"unknown handle":        func(l keyLine) (string, int) { return l.start + l.key + ": !a!b text", 0 },
	"tab on a blank line":   func(l keyLine) (string, int) { return l.start + l.key + ": " + l.value + "\n\t", 1 },
	"tab before a comment":  func(l keyLine) (string, int) { return l.start + l.key + ": " + l.value + "\n\t# text", 1 },
	"glob":                  func(l keyLine) (string, int) { return l.start + l.key + ": *.example", 0 },
	"second colon":          func(l keyLine) (string, int) { return l.start + l.key + ": text: more", 0 },
	"at sign":               func(l keyLine) (string, int) { return l.start + l.key + ": @text", 0 },
	"backquote":             func(l keyLine) (string, int) { return l.start + l.key + ": `text`", 0 },
	"percent":               func(l keyLine) (string, int) { return l.start + l.key + ": %d", 0 },
	"closing bracket":       func(l keyLine) (string, int) { return l.start + l.key + ": [a]]", 0 },
	"quote in a quote":      func(l keyLine) (string, int) { return l.start + l.key + ": 'it's'", 0 },
	"escape":                func(l keyLine) (string, int) { return l.start + l.key + `: "\d+"`, 0 },
	"control character":     func(l keyLine) (string, int) { return l.start + l.key + ": a\x07b", 0 },
	"byte order mark":       func(l keyLine) (string, int) { return l.start + l.key + ": a\ufeffb", 0 },
	"invalid UTF-8":         func(l keyLine) (string, int) { return l.start + l.key + ": a\xffb", 0 },
	"block header":          func(l keyLine) (string, int) { return l.start + l.key + ": |text", 0 },
	"dedent in a block": func(l keyLine) (string, int) {
		return l.start + l.key + ": |\n" + l.inside + "    one\n" + l.inside + "    two\n" + l.inside + "  three", 3
	},
	"block at the key": func(l keyLine) (string, int) {
		return l.start + l.key + ": |\n" + l.inside + "  one\n" + l.inside + "two words", 2
	},
	"two dashes":  func(l keyLine) (string, int) { return l.start + l.key + ": " + l.value + "\n--", 1 },
	"four dashes": func(l keyLine) (string, int) { return l.start + l.key + ": " + l.value + "\n----", 1 },
}

// keyLine is a line with a key and a value.
type keyLine struct {
	start         string // before the key: spaces and dashes
	indent        string // spaces instead of start, of the same width
	inside        string // the same
	key, value    string
	first, dashed bool // the key is the first of its mapping; a dash precedes it
}

const notHere = "\x00" // the mistake does not apply to this line

// indented returns the replacement for the spaces before the key, or notHere if the key is not indented by spaces only.
func (l keyLine) indented(by string) string {
	if l.dashed || l.indent == "" {
		return notHere
	}
	return by
}

// later is like indented, but excludes the first key of a mapping, because that would move the whole mapping.
func (l keyLine) later(by string) string {
	if l.first {
		return notHere
	}
	return l.indented(by)
}

// keyLines returns the lines of a body that consist of a key and a scalar, by line number.
func keyLines(t *testing.T, body string) map[int]keyLine {
	t.Helper()
	found := map[int]keyLine{}
	lines := strings.Split(body, "\n")
	segments, err := Split(t.Context(), []byte(body), YAML, Limits{Documents: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range segments {
		var root yaml.Node
		if err := yaml.Unmarshal(s.Text, &root); err != nil {
			t.Fatal(err)
		}
		visit(&root, func(mapping *yaml.Node, i int) {
			key, value := mapping.Content[i], mapping.Content[i+1]
			line := s.Line - 1 + key.Line
			if value.Kind != yaml.ScalarNode || value.Line != key.Line || value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
				return
			}
			start, rest := lines[line-1][:key.Column-1], lines[line-1][key.Column-1:]
			name, text, _ := strings.Cut(rest, ": ")
			next := "" // a value that continues there is skipped
			if line < len(lines) {
				next = lines[line]
			}
			indent := strings.Repeat(" ", len(start))
			if name != key.Value || strings.HasPrefix(next, indent+" ") {
				return
			}
			found[line] = keyLine{start, indent, indent, name, text, i == 0, strings.Contains(start, "-")}
		})
	}
	return found
}

// visit calls do for each member of a mapping in block style.
func visit(n *yaml.Node, do func(mapping *yaml.Node, i int)) {
	if n.Style&yaml.FlowStyle != 0 {
		return
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			do(n, i)
		}
		visit(child, do)
	}
}

var saidLine = regexp.MustCompile(`Details: (?:document \d+, )?line (\d+)`)

// namesLines makes each kind of mistake at some lines of a body and checks that the error names that line.
func namesLines(t *testing.T, body string, each int) (made int) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(len(body)), 1))
	lines, found := strings.Split(body, "\n"), keyLines(t, body)
	places := slices.Sorted(func(yield func(int) bool) {
		for line := range found {
			if !yield(line) {
				return
			}
		}
	})
	for name, mistake := range mistakes {
		for range each {
			line := places[random.IntN(len(places))]
			becomes, offset := mistake(found[line])
			if strings.Contains(becomes, notHere) {
				continue
			}
			changed := slices.Clone(lines)
			changed[line-1] = becomes
			_, _, err := readAll(t, strings.Join(changed, "\n"), YAML)
			if err == nil || strings.Contains(err.Error(), "appears twice") {
				continue // the changed text is valid or has a duplicate key
			}
			made++
			said := saidLine.FindStringSubmatch(err.Error())
			if said == nil || said[1] != strconv.Itoa(line+offset) {
				from := max(0, line-4)
				t.Errorf("%s at line %d: %v\n%s", name, line+offset, err,
					strings.Join(changed[from:min(len(changed), line+6)], "\n"))
			}
		}
	}
	return made
}

// A syntax error names the line of the mistake, not the line where the parser gives up.
func TestDecode_namesTheLine(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 4 {
		fmt.Fprintf(&body, `---
schema: acme/Host/v1
metadata:
  schema: metadata/Document/v1
  name: host-%d # a host
  labels: {rack: r1}
data:
  address: 10.0.0.11
  rack: 1
  text: |
    key: value
      more: text
  role: "control"
  interfaces:
  - name: eth0
    mtu: 9000
  - name: eth1
    url: http://example.com:80/
  nested:
    - deep:
        deeper: 'text'
        last: more
      after: [a, {b: c}]
  folded: >-
    some text

    more
  end: true
`, i)
	}
	if made := namesLines(t, body.String(), 40); made < 700 {
		t.Errorf("only %d mistakes were made", made)
	}
}

// Syntax errors in documents of real sites name the line of the mistake.
func TestDecode_namesTheLine_corpus(t *testing.T) {
	t.Parallel()
	for _, text := range corpus(t, "*/documents.yaml") {
		segments, err := Split(t.Context(), text, YAML, DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		const some = 20
		for from := 0; from < len(segments); from += some {
			var body strings.Builder
			for _, s := range segments[from:min(len(segments), from+some)] {
				body.Write(s.Text)
			}
			namesLines(t, body.String(), 1)
		}
	}
}
