package document

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
)

// requireAlike decodes a body with the plain reader and with the YAML library, under the same limits. It returns the
// number of documents, and how many of them the plain reader accepts.
func requireAlike(t *testing.T, body []byte, limits Limits) (documents, accepted int) {
	t.Helper()
	segments, err := Split(t.Context(), body, YAML, limits)
	if err != nil {
		return 0, 0
	}
	for _, segment := range segments {
		if segment.decoded != nil {
			continue
		}
		documents++
		if limits.checkText(segment) != nil {
			continue
		}
		got, err := decodeBy((*decoder).plain, budget.NewMeter(t.Context()), segment, limits)
		if errors.Is(err, errDeclined) {
			continue
		}
		if err != nil {
			t.Fatalf("%v, without a budget\n%s", err, segment.Text)
		}
		accepted++
		want, err := decodeBy((*decoder).yaml, budget.NewMeter(t.Context()), segment, limits)
		if err != nil {
			t.Fatalf("accepted, but the library refuses it: %v\n%q\n%s", err, segment.Text, segment.Text)
		}
		if !reflect.DeepEqual(want, got) { //nolint:govet // they hold no errors: Twice is always nil here
			t.Fatalf("(-library +plain)\n%s\n%q\n%s", cmp.Diff(want, got, cmp.AllowUnexported(Entry{}, Segment{})), segment.Text, segment.Text)
		}
	}
	return documents, accepted
}

// The library reads everything that the plain reader accepts as the same values, notes and lines, within the limits.
func FuzzPlainEqualsYAML(f *testing.F) {
	for _, seed := range append(acceptedYAML(), declinedYAML()...) {
		f.Add([]byte(seed), byte(0))
		f.Add([]byte(seed), byte(13))
	}
	f.Add(site(1), byte(1))
	f.Fuzz(func(t *testing.T, body []byte, bound byte) {
		requireAlike(t, body, DefaultLimits())
		limits := Limits{Documents: 10, Size: 1 + int(bound)*4, Depth: 1 + int(bound)%8, Values: 1 + int(bound)/4}
		requireAlike(t, body, limits)
	})
}

func TestPlain_accepted(t *testing.T) {
	t.Parallel()
	for _, body := range acceptedYAML() {
		if documents, accepted := requireAlike(t, []byte(body), DefaultLimits()); documents != 1 || accepted != 1 {
			t.Errorf("%q: %d of %d documents are accepted", body, accepted, documents)
		}
	}
}

func TestPlain_declined(t *testing.T) {
	t.Parallel()
	for _, body := range declinedYAML() {
		if _, accepted := requireAlike(t, []byte(body), DefaultLimits()); accepted > 0 {
			t.Errorf("%q is accepted", body)
		}
	}
}

// acceptedYAML returns documents in the plain subset of YAML that are hard to read correctly.
func acceptedYAML() []string {
	long := strings.Repeat("k", 900)
	bodies := []string{
		"a", "a:b\n", "'a\nb'\n", "---\na: b\n", "---  # c\na: b", "# c\n\n---\na: b\n", "\n  # c\n a: b\n c: d\n", "a:\n", "a:\n\n# c\n",
		// Sequences.
		"a:\n- b\n- c\nd: e\n", "a:\n  - b\n  - c\nd: e\n", "- a\n- - b\n  - c\n-\n- - - d\n", "-\n  a: b\n-\n  - c\n", "- a: b\n  c: d\n-  e: f\n   g:\n   - h\n",
		"a:\n-\n-\nb:\n", "a:\n-  # c\n  b: c\n", "- # c\n  # d\n  - e\n", "- a:\n  - b\n- c:\n- d\n", "-   - a\n    -    b\n",
		// Keys.
		"a b: c\na:b: c\n'a: b': c\n\"a\\\"b\": c\n", "a : b\nd  :  b c  \n", "1: a\n017: b\n2001-01-01: c\n", "'': a\n", "a:\n  \"\": b\n", "'<<': a\n\"=\": b\n", long + ": v\n",
		"-a: b\n--: c\n:d: e\n-: f\n", "=: a\nb: {=: c}\n", "é: ü\n日本: 語\n", "a.b/c$^(d): e\n", "k: {'<<': 1}\n",
		// Comments, and text that looks like a comment.
		"a:    # c\n  b: c # d\n# e\n  # f\nd: e #\n", "a: b#c\nd: #\n", "a: # c\n\n  # d\n - b\n", "a: 'b' # c\nd: [e] # f\ng: | # h\n  i\n", "a: b\n      # c\nd: e\n", "a:\n  b: c\n # d\n  e: f\n",
		// Plain scalars.
		"a: b: \n"[:4] + "c:d:e\n", "a: -1\nb: -c\nc: :d\nd: --- e\ne: ...\n", "a: b - c ? d & e * f ! g | h > i % j @ k ` l\n", "a: b'c\"d\n", "a: b, c] d} e[ f{\n", "a: http://b:80/?c#d\n", "a: 10.0.0.1:80\n",
		"a: b\n c\n\n  d\n\n\n e\nf: g\n", "a:\n  b\n  c\nd: e\n", "- a\n  b\n- c\n", "a: b\n  - c\n", "a: b\n c # d\ne: f\n", "a: b\n 'c'\n [d]\n #e\n", "a:\n- b\n c\n", "a: b  \n   c  \n\n",
		// Types.
		"- yes\n- y\n- on\n- ~\n- null\n- Null\n- nULL\n- 0o17\n- 1_000\n- 017\n- 08\n- 190:20:30\n- 1:60\n- 0x1F\n- 0b11\n- +1\n- -0\n- 1.5e+3\n- 1e3\n- .5\n- 1.\n- .\n",
		"- 2001-01-01\n- 2001-12-14t21:59:43.10-05:00\n- 1.2.3\n- 18446744073709551615\n- -9223372036854775808\n- 0.1.\n- true\n- 'true'\n- \"1\"\n- |\n  1\n",
		// Quoted scalars.
		"a: ''''\nb: 'c''d'\ne: ' f '\ng: '\t'\n", "a: \"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\ \\\"\\'\\\\\\x41\\u00e9\\U0001F600\"\n", "a: \"\\/\"\nb: '\\/'\n", "a: \"b # c: d - e\"\nf: 'g # h'\n", "a: 'b\n\n  c'\n", "a: 'b\nc'\n", "a: \"b \\\n   c\"\n", "a: \"b\\n\\\n  \\ c\\\n\n  d\n  e\"\n", "a: \"b \t\n\t c\\ \n d\"\n", "a: \"\\\n\"\n", "a: 'b\n  '\n", "- 'a\n\n  '\n- b\n",
		// Block scalars.
		"a: |\n  b\n   c\n\n  d\ne: f\n", "a: |-\n  b\n\n\nc: d\n", "a: |+\n  b\n\n\nc: d\n", "a: |+\n  b\n\n", "a: |\n  b", "a: |-\n  b", "a: |+\n  b", "a: |\n  b\n  ", "a: |\n  b\n   ", "a: |-\n  b\n  ", "a: |\n  b\n\n\nc: d\n", "a: \"b''c\"\n", "a: |\n\n\n  b\n", "a: |\n \n  \n  b\n",
		"a: |\n  b\n  \tc\t\n", "a: |\n  # b\n# c\nd: e\n", "a: |\n  - b: c\n  ---\n  ...\n  %d\n", "- |\n a\n- >\n  b\n  c\n", "a:\n- |\n b\nc: d\n", "a:\n  |\n  b\n", "a: |\n b\n # c\n  d\n#e\n",
		"a: >\n  b\n  c\n\n  d\n\n\n  e\n", "a: >-\n  b\n   c\n  d\n", "a: >\n  b\n\n   c\n\n  d\n", "a: >+\n  b\n\n", "a: >\n\n  b\n  \tc\n  d\n", "a: >\n  b", "a: | \n  b\n", "a: |   # c\n  b\n",
		// Flow collections.
		"a: []\nb: {}\nc: [ ]\nd: { }\n", "a: [b, 'c', \"d\", 1, ~, true, [e, []], {f: g}]\n", "a: {b: c, 'd': e, \"f\": 1, g: [h], i: {}}\n", "a: [b,c,]\nb: {c: d,}\n", "{\"a\":1,\"b\":[2]}\n", "[a, b]\n", "a: [b c , d]\nb: { c : d }\n", "a: [-1, -1.5, :b]\n"[:14] + "]\n", "a: [b, http://d:80/e, f:g]\n", "- {a: b}\n- [c]\n", "a:\n  {b: c}\n", "a: ['b\n c']\n",
		// Notes.
		"a:\n  b: 1\n  c: 2\n  b: 3\n  b: 4\n", "a: {b: 1, b: 2}\n", "- a: 1\n  1: 2\n  01: 3\n  a: 4\n", "a:\n" + strings.Repeat("  b: 1\n", 20),
		// Names of documents, and mappings with too many members for a linear search.
		"schema: s\nmetadata: {name: n}\ndata: {}\n", "a:\n" + strings.Repeat("  b: 1\n  c: 2\n", 2) + members(20),
	}
	return bodies
}

func members(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("  k" + string(rune('a'+i)) + ": 1\n")
	}
	return b.String() + b.String()
}

// declinedYAML returns documents that the plain reader declines.
func declinedYAML() []string {
	return []string{
		"", "# c\n", "---\n", "--- a\n", "--- {a: b}\n", "--- |\n a\n", "---\t\na: b\n", "---a: b\n", "...a: b\n",
		// Anchors, aliases, tags, merges, directives, complex keys.
		"a: &b c\nd: *b\n", "&a b: c\n", "a: !!str 1\n", "! a: b\n", "<<: {a: b}\n", "a: {<<: {b: c}}\n", "a: <<\n", "<< : {a: b}\n", "? a\n: b\n", "?\n", "a: ? b\n", "[a]: b\n", "{a: b}: c\n", "[? a : b]\n", "a: [b: c]\n", "%TAG ! x\n---\na: b\n",
		// Errors.
		"a: b: c\n", "a: 'b': c\n", "a: b\n  c: d\n", "a: b\n c\n  d: e\n", "a:\n    b: c\n  d: e\n", "a:\n  - b\n c: d\n", "- a\nb: c\n", "a: b\n- c\n", "a: - b\n", "a: -\n", "a: @b\n", "a: `b\n", "a: %b\n", "%a: b\n", "a: ,\n", "a: ]\n", "a: 'b\n", "a: \"b\n", "a: \"\\q\"\n", "a: \"\\ud800\"\n", "a: \"\\U00110000\"\n", "a: \"\\xg0\"\n", "a: \"\\u12\"\n", "a: \"b\" c\n", "\"a\":b\n", "'a':b\n", "- 'a':b\n", "a: 'b'#c\n", "a: [b\n", "a: [b}\n", "a: [b] c\n", "a: [b]#c\n", "a: [,]\n", "a: [b,,c]\n", "a: {b}\n", "a: {b: }\n", "a: {b:, c: d}\n",
		"a\nb: c\n", "a\nb\n", "'a'\n'b'\n", "- a\n  b: c\n", "a: b\n# c\n  d\n", "a: b # c\n  d\n", "\"a\nb\": c\n", "'a' 'b': c\n"[:3] + " b\n",
		// Values that are refused, and keys that are not strings.
		"a: .inf\n", "a: .nan\n", "a: 18446744073709551616\n", "a: 2001-02-30\n", "a: =\n", "a: 0b_\n", "~: a\n", "yes: a\n", "1.5: a\n", ": a\n", "a: {~: b}\n", "null : a\n", "a: 1" + strings.Repeat("9", 2000) + "\n",
		"a: 1\nb: 2\na: 3\n", "{a: 1, a: 2}\n",
		// Other line breaks and characters.
		"a: b\r\nc: d\r\n", "a: b\rc: d\r", "a: b\u0085c: d\n", "a: b\u2028c: d\n", "a: b\u2028c\n", "a: |\n  b\u2029  c\n", "a: b\n\ufeffc: d\n", "a: b\x7f\n", "a: \x01\n", "a: \u0080\n", "# \u0085a: b\n", "a: \uffff\n", "# \r\na: b\n", "a: 'b\u0085c'\n",
		// Tabs.
		"a:\tb\n", "a: b\t\n", "a: b\tc\n", "\ta: b\n", "a:\n\tb: c\n", "a:\n \t b: c\n", "-\ta\n", "a: b\n\t\nc: d\n", "a: 'b'\t\n", "a: [b,\tc]\n", "a: b\n\tc\n", "a: |\t\n  b\n", "a: |\n  \tb\n", "a: |\n \tb\n", "a: |\n  b\n \tc\n", "a: \t# b\n", "a\t: b\n", "a:\t\n",
		// Block scalars whose indentation is explicit or ambiguous.
		"a: |2\n   b\n", "a: |1-\n  b\n", "a: >-2\n  b\n", "a: |0\n b\n", "a: |\n    \n  b\n", "a: |\nb: c\n", "a: |\n", "a: |", "a: |\n\n", "- |\n- a\n", "a: |x\n  b\n", "a: |#c\n  b\n", "a: |\n    b\n  c\nd: e\n", "a:\n  b: |\n c\n", "a: |\n  b\n c: d\n", "|\na\n",
		// Long keys, deep nesting.
		strings.Repeat("k", 1001) + ": v\n", "a: {" + strings.Repeat("k", 1030) + ": v}\n", "'" + strings.Repeat("k", 1030) + "': v\n", strings.Repeat("[", 101) + strings.Repeat("]", 101) + "\n", strings.Repeat("- ", 101) + "a\n", indented(101),
		// Plain scalars in flow collections that the library ends differently, and flow collections on several lines.
		"a: [b?c]\n", "a: [b#c]\n", "a: [b:]\n", "a: {b:[c]}\n", "a: [-]\n", "a: [--b]\n", "a: [:b]\n", "a: [b\n c]\n", "a: [b,\n c]\n", "a: {b: c\n}\n", "a: [b # c\n]\n", "a: {\"b\" : c}\n", "a: {b: 'c'd}\n", "a: {? b : c}\n", "{a: b{c}\n", "a: {b c}\n", "a: [b c: d]\n", "a: {b: c: d}\n", "a: [*b]\n", "a: [!b c]\n",
	}
}

var shared = flag.String("shared", "", "folder that holds corpus/, real sites")

// corpus returns the files of real sites that match a pattern, none without -shared.
func corpus(t testing.TB, pattern string) map[string][]byte {
	t.Helper()
	sites := map[string][]byte{}
	if *shared == "" {
		return sites
	}
	files, err := filepath.Glob(filepath.Join(*shared, "corpus", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files in %s: %v", pattern, len(files), *shared, err)
	}
	for _, file := range files {
		if sites[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return sites
}

// The pooled memory of a deep document holds none of its values.
func TestEmptied(t *testing.T) {
	t.Parallel()
	open := make([]collection, 3*pooledDepth)
	for i := range open {
		open[i] = collection{list: []any{"v"}, key: "k", mapping: mappingBuilder{members: Mapping{{"k", "v"}}}}
	}
	kept := cleared(open[:pooledDepth])
	for i, c := range kept[:cap(kept)] {
		empty := c.key == ""
		for _, item := range c.list[:cap(c.list)] {
			empty = empty && item == nil
		}
		for _, member := range c.mapping.members[:cap(c.mapping.members)] {
			empty = empty && member == Member{}
		}
		if !empty {
			t.Fatalf("collection %d of %d: %v", i, cap(kept), c)
		}
	}
}

// At least 95% of the documents of real sites are plain.
func TestPlain_corpus(t *testing.T) {
	t.Parallel()
	for file, body := range corpus(t, "*/*.yaml") {
		documents, accepted := requireAlike(t, body, DefaultLimits())
		if t.Logf("%s: %d of %d documents", file, accepted, documents); accepted < documents*95/100 {
			t.Errorf("%s: %d of %d documents are accepted", file, accepted, documents)
		}
	}
}
