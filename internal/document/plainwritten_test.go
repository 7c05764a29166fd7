package document

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"purser/internal/document/blockyaml"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"purser/internal/budget"
)

// YAML written by people and programs is nearly always plain, and reads back as the value that was written.
func TestPlain_written(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*rapid.T, Mapping) []byte{
		"this package": func(_ *rapid.T, m Mapping) []byte { return blockyaml.Append(nil, AppendJSON(nil, m)) },
		"the library":  writeByLibrary,
		"by hand":      writeByHand,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents, accepted := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				value := Mapping{{"v", drawPlain(t, 4)}, {"w", drawPlain(t, 2)}}
				text := write(t, value)
				segment := Segment{Text: text, Line: 1, Index: 1}
				got, err := decodeBy((*decoder).plain, budget.NewMeter(t.Context()), segment, DefaultLimits())
				want, failed := decodeBy((*decoder).yaml, budget.NewMeter(t.Context()), segment, DefaultLimits())
				if documents++; errors.Is(err, errDeclined) {
					t.Logf("declined: %q", text)
					return
				}
				accepted++
				if err != nil || failed != nil {
					t.Fatalf("%v (library: %v)\n%s", err, failed, text)
				}
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(Entry{}, Segment{})); diff != "" {
					t.Fatalf("(-library +plain)\n%s\n%s", diff, text)
				}
				if diff := cmp.Diff(any(value), got.Value); diff != "" {
					t.Fatalf("(-written +read)\n%s\n%s", diff, text)
				}
			})
			t.Logf("%d of %d documents are accepted", accepted, documents)
			if accepted < documents*90/100 {
				t.Errorf("%d of %d documents are accepted", accepted, documents)
			}
		})
	}
}

// drawPlain draws values with strings that are common in documents, some of several lines.
func drawPlain(t *rapid.T, depth int) any {
	text := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z/][a-z0-9./_-]{0,10}`), rapid.StringMatching(`[a-z]{1,5}( [a-z0-9:,'"#{}-]{1,8}){0,9}`),
		rapid.StringMatching(`[a-z]{1,5}(\n{1,3}[a-z0-9:'"#-]{1,8}){1,5}\n{0,3}`), rapid.StringMatching(`[ -~\né]{0,12}`),
		rapid.StringMatching(`[a-z]{1,5}( ?\n? {0,3}[a-z0-9:#\\-]{1,8}){1,5}\n{0,2}`),
	)
	switch kind := rapid.IntRange(0, 3+2*min(depth, 1)).Draw(t, "kind"); kind {
	case 0:
		return rapid.SampledFrom([]any{nil, true, false}).Draw(t, "word")
	case 1:
		return rapid.SampledFrom([]any{Number("0"), Number("-1"), Number("443"), Number("1.5")}).Draw(t, "number")
	case 4:
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return drawPlain(t, depth-1) }), 0, 4).Draw(t, "list")
	case 5:
		m := Mapping{}
		for _, key := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z_.:-]{0,6}|[ -~]{0,4}`), 0, 4, rapid.ID).Draw(t, "keys") {
			m = append(m, Member{key, drawPlain(t, depth-1)})
		}
		return m
	}
	return text.Draw(t, "text")
}

func writeByLibrary(t *rapid.T, m Mapping) []byte {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(rapid.IntRange(2, 4).Draw(t, "indent"))
	if err := encoder.Encode(libraryNode(m)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func libraryNode(value any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch v := value.(type) {
	case nil:
		n.Value = "null"
	case bool, Number:
		n.Value = fmt.Sprint(v)
	case string:
		n.SetString(v)
		read, wrong := resolvePlain(v)
		if _, isText := read.(string); !isText || wrong != "" {
			n.Style = yaml.SingleQuotedStyle
		}
	case []any:
		n.Kind = yaml.SequenceNode
		for _, item := range v {
			n.Content = append(n.Content, libraryNode(item))
		}
	case Mapping:
		n.Kind = yaml.MappingNode
		for _, member := range v {
			n.Content = append(n.Content, libraryNode(member.Key), libraryNode(member.Value))
		}
	}
	return n
}

// writeByHand writes each node in a style that can represent it, with comments and odd spacing.
func writeByHand(t *rapid.T, m Mapping) []byte {
	w := &handWriter{t: t}
	w.put(w.one("", "---\n", "--- # c\n\n"))
	w.members(m, 0)
	return w.out.Bytes()
}

type handWriter struct {
	t   *rapid.T
	out bytes.Buffer
}

func (w *handWriter) one(of ...string) string { return rapid.SampledFrom(of).Draw(w.t, "one") }

func (w *handWriter) number(least, most int) int {
	return rapid.IntRange(least, most).Draw(w.t, "number")
}

func (w *handWriter) put(texts ...string) {
	for _, text := range texts {
		w.out.WriteString(text)
	}
}

func blanks(n int) string { return strings.Repeat(" ", n) }

// end ends a line and may add blank lines and comments.
func (w *handWriter) end() {
	w.put(w.one("\n", "\n", "\n", " \n", " # c: [d\n", "\n\n", "\n  \n# 'c\n", "\n    # c\n"))
}

func (w *handWriter) members(m Mapping, indent int) {
	for i, member := range m {
		if i > 0 {
			w.put(blanks(indent))
		}
		w.put(w.text(member.Key, indent, true), ":")
		w.value(member.Value, indent, true)
	}
}

// value writes the value after a key or a dash at a column.
func (w *handWriter) value(value any, column int, inMapping bool) {
	simple := !strings.Contains(string(AppendJSON(nil, value)), `\n`)
	switch v := value.(type) {
	case Mapping:
		switch {
		case len(v) == 0 || simple && w.number(0, 4) == 0:
			w.put(" ", w.flow(v))
			w.end()
		case inMapping || w.number(0, 4) == 0:
			w.end()
			indent := column + w.number(1, 4)
			w.put(blanks(indent))
			w.members(v, indent)
		default:
			gap := w.number(1, 3)
			w.put(blanks(gap))
			w.members(v, column+1+gap)
		}
	case []any:
		if len(v) == 0 || simple && w.number(0, 4) == 0 {
			w.put(" ", w.flow(v))
			w.end()
			return
		}
		indent := column + w.number(1, 3)
		if inMapping {
			indent = column + w.number(0, 3)
			w.end()
			w.put(blanks(indent))
		} else {
			w.put(blanks(indent - column))
			indent++
		}
		for i, item := range v {
			if i > 0 {
				w.put(blanks(indent))
			}
			w.put("-")
			w.value(item, indent, false)
		}
	case string:
		text := w.text(v, column, false)
		if w.put(w.one(" ", "  "), text); text[0] == '|' || text[0] == '>' {
			w.put("\n")
			return
		}
		w.end()
	default:
		if text := string(AppendJSON(nil, v)); v != nil || w.number(0, 1) == 0 {
			w.put(" ", text)
		}
		w.end()
	}
}

func (w *handWriter) flow(value any) string {
	var parts []string
	switch v := value.(type) {
	case Mapping:
		for _, member := range v {
			parts = append(parts, quoted(member.Key)+": "+w.flow(member.Value))
		}
		return "{" + w.one("", " ") + strings.Join(parts, w.one(", ", ",", " , ")) + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, w.flow(item))
		}
		return "[" + strings.Join(parts, w.one(", ", ",", " ,  ")) + w.one("", " ") + "]"
	case string:
		if flowWord.MatchString(v) && isString(v) {
			return v
		}
		return quoted(v)
	}
	return string(AppendJSON(nil, value))
}

// quoted quotes a string. Go and YAML have the same escapes.
func quoted(text string) string { return strconv.QuoteToASCII(text) }

var (
	flowWord  = regexp.MustCompile(`^[a-zA-Z/][a-z0-9./_-]*( [a-z0-9]+)*$`)
	blockWord = regexp.MustCompile(`^[a-zA-Z/][a-z0-9./_'",{}-]*( [a-z0-9'"{},-]+)*$`)
	folds     = regexp.MustCompile(`^[!-~é]+((\n+| )[!-~é]+)*$`) // each break is between two characters
	literal   = regexp.MustCompile(`^[!-~é][ -~é]*(\n+ *[!-~é][ -~é]*)*\n*$`)
	foldable  = regexp.MustCompile(`^[!-~é]+((\n+| )[!-~é]+)*\n*$`)
)

// text writes a string in a style that can represent it, for a collection at a column.
func (w *handWriter) text(s string, column int, isKey bool) string {
	styles := []string{quoted(s)}
	add := func(style string) { styles = append(styles, style) }
	if isString(s) && blockWord.MatchString(s) {
		add(s)
	}
	if single := strings.ReplaceAll(s, "'", "''"); !strings.Contains(s, "\n") {
		add("'" + single + "'")
	}
	if isKey {
		return w.one(styles...)
	}
	margin := blanks(column + w.number(1, 4))
	if isString(s) && blockWord.MatchString(s) && strings.Count(s, " ") > 0 {
		add(w.fold(s, margin))
	}
	if folds.MatchString(s) {
		add("'" + w.fold(strings.ReplaceAll(s, "'", "''"), margin) + "'")
		add(`"` + w.fold(strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s), margin) + `"`)
	}
	if half := quoted(s); len(half) > 4 && !strings.ContainsAny(half[:3], `\ `) {
		next := strings.Replace(half[2:], " ", `\ `, min(1, len(half)-len(strings.TrimLeft(half[2:], " "))-2))
		add(half[:2] + "\\\n" + margin + next)
	}
	if literal.MatchString(s) {
		add("|" + w.block(s, margin, strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+margin)))
	}
	if foldable.MatchString(s) && s[0] != ' ' {
		add(">" + w.block(s, margin, w.fold(strings.TrimRight(s, "\n"), margin)))
	}
	return w.one(styles...)
}

// fold breaks some lines at spaces and doubles the existing line feeds.
func (w *handWriter) fold(s, margin string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' && w.number(0, 3) == 0:
			b.WriteString("\n" + margin)
		case c == '\n' && s[i-1] != '\n':
			b.WriteString("\n\n" + margin)
		case c == '\n':
			b.WriteString("\n" + margin)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// block returns a literal or folded scalar without its first character and without the line feed of its last line.
func (w *handWriter) block(s, margin, body string) string {
	switch feeds := len(s) - len(strings.TrimRight(s, "\n")); feeds {
	case 0:
		return "-" + w.one("\n", " # c\n") + margin + body
	case 1:
		return w.one("\n", " \n", "  # c\n") + margin + body
	default:
		return "+\n" + margin + body + strings.Repeat("\n", feeds-1)
	}
}
