package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"purser/internal/budget"
	plainyaml "purser/internal/document/plain"
)

// Entry is one decoded document of a body, before its sanity checks.
type Entry struct {
	Value   any // a Mapping if the entry is a document
	Notes   []Note
	Twice   error // a fault about the first key that appears twice at the top level; nil if none does
	Segment Digest
	Index   int // position among the body's documents; counts from 1
	Line    int // first line in the body; counts from 1

	source Segment
}

// Note is information about a document that is not an error (spec/api.md §0 D20).
type Note struct {
	Message string `json:"message"`
	Level   string `json:"level"`
}

// IsDocument reports whether the entry is a mapping that is not empty, as every document must be.
func (e Entry) IsDocument() bool {
	m, ok := e.Value.(Mapping)
	return ok && len(m) > 0
}

// Decode parses a segment. Faults: Invalid if it cannot be parsed or represented as JSON, TooLarge beyond limits or the
// budget. The message names the document, line and column as far as they are known. Decode holds its memory in the
// budget until it returns.
func Decode(ctx context.Context, s Segment, limits Limits) (Entry, error) {
	if s.decoded != nil {
		return s.decoded.entry, s.decoded.err
	}
	if err := limits.checkText(s); err != nil {
		return Entry{}, err
	}
	meter := budget.NewMeter(ctx)
	switch {
	case s.media == JSON:
		return decodeBy((*decoder).json, meter, s, limits)
	case !limits.Strict:
		entry, err := decodeBy((*decoder).plain, meter, s, limits)
		if err != plainyaml.ErrDeclined { //nolint:errorlint // it is not wrapped
			return entry, err
		}
	}
	return decodeBy((*decoder).yaml, meter, s, limits)
}

func decodeBy(read func(*decoder) (any, error), meter *budget.Meter, s Segment, limits Limits) (Entry, error) {
	d := &decoder{segment: s, limits: limits, meter: meter}
	defer d.release()
	result := d.decode(func() (any, error) { return read(d) })
	return result.entry, result.err
}

// decoder converts one parsed segment into a value and counts the values that it creates.
type decoder struct {
	segment Segment
	limits  Limits
	meter   *budget.Meter
	notes   []Note
	twice   error
	values  int
	size    int
	pending int                 // bytes of values that are not yet counted in the budget
	held    int                 // bytes of values that are
	open    map[*yaml.Node]bool // anchored nodes whose aliases are being expanded
	name    string              // of the document, for messages
}

// Costs in the budget.
const (
	valueSteps  = 400      // to create a value
	numberSteps = 100      // for each byte of a number
	valueBytes  = 128      // of a value, besides its text
	maxPending  = 64 << 10 // bytes after which they are counted
)

// decode reads the segment. If the budget is exceeded, the error names the document.
func (d *decoder) decode(read func() (any, error)) decoded {
	d.open = make(map[*yaml.Node]bool)
	value, err := read()
	if err == nil {
		err = d.flush()
	}
	s := d.segment
	if err != nil {
		return decoded{Entry{}, budget.About(err, "%s%s", s.Place(), d.name)}
	}
	return decoded{entry: Entry{
		Value: value, Notes: d.notes, Twice: d.twice, Segment: s.Digest, Index: s.Index, Line: s.Line, source: s,
	}}
}

func (d *decoder) release() { d.meter.Release(d.held) }

func (d *decoder) yaml() (any, error) {
	p := &parser{meter: d.meter}
	defer p.release()
	var node *yaml.Node
	found := 0
	err := p.parse(d.segment.Text, func(n *yaml.Node) bool { node, found = n, found+1; return found < 2 })
	if syntax, ok := errors.AsType[*syntaxError](err); ok {
		return nil, unreadable(d.meter, d.segment, syntax)
	}
	if err != nil {
		return nil, err
	}
	if found > 1 {
		return nil, Malformed("%s has a --- or ... after a line break that is not a line feed (LF); "+
			"write the body with line feeds", d.segment.Place())
	}
	return d.root(node)
}

// root returns the value of a document.
func (d *decoder) root(node *yaml.Node) (any, error) {
	if node == nil || len(node.Content) == 0 {
		return nil, nil
	}
	d.name = nameOf(node.Content[0])
	return d.value(node.Content[0], 1)
}

// unreadable returns the fault of a text that the YAML library refuses.
func unreadable(meter *budget.Meter, s Segment, syntax *syntaxError) error {
	const maxText, diagnosisSteps = 1 << 20, 300 // of a byte
	var found *mistake
	if !syntax.own && len(s.Text) <= maxText {
		meter.Charge(len(s.Text) * diagnosisSteps)
		if err := meter.Check(); err != nil {
			return err
		}
		found = diagnose(s.Text, s.line(1))
	}
	if found != nil {
		at := cursor{text: s.Text, line: 1, column: 1}
		at.advance(found.at)
		return Malformed("document %d, line %d, column %d: %s", s.Index, s.line(at.line), at.column, found.message)
	}
	said := yamlLine.FindStringSubmatch(syntax.text)
	if said == nil || said[1] == "" {
		return Malformed("document %d (from line %d): %s", s.Index, s.Line, strings.TrimPrefix(syntax.text, "yaml: "))
	}
	line, _ := strconv.Atoi(said[1])
	message := syntax.text[len(said[0]):]
	if ofParser.MatchString(message) {
		line++ // it counts from 0
	}
	return Malformed("document %d, line %d: %s", s.Index, s.line(line), message)
}

var (
	yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	// ofParser matches messages of the library's parser; the others are its scanner's.
	ofParser = regexp.MustCompile(`^did not find expected (<|key|node|'-'|',')`)
)

func (d *decoder) line(line int) int { return d.segment.line(line) }

func (d *decoder) lineAt(offset int) int { return d.line(lineOf(d.segment.Text, offset)) }

// nameOf returns the schema and name of a document, for messages, "" if it has none.
func nameOf(root *yaml.Node) string {
	schema := memberNode(root, "schema")
	name := memberNode(memberNode(root, "metadata"), "name")
	if schema == nil || name == nil {
		return ""
	}
	return named(schema.Value, name.Value)
}

func named(schema, name string) string {
	if schema == "" {
		return ""
	}
	return " [" + brief(schema) + "] " + brief(name)
}

func memberNode(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func (d *decoder) refuse(n *yaml.Node, format string, args ...any) error {
	return Malformed("document %d%s, line %d, column %d: %w", d.segment.Index, d.name, d.line(n.Line), n.Column,
		fmt.Errorf(format, args...))
}

// count counts one more value against the limits and the budget.
func (d *decoder) count(bytes, depth int) error {
	if err := d.exceeds(bytes, depth); err != nil {
		return err
	}
	return d.spend(valueSteps, valueBytes)
}

// exceeds counts one more value and returns the fault of a limit that it exceeds.
func (d *decoder) exceeds(bytes, depth int) error {
	d.values++
	d.size += bytes
	switch {
	case depth > d.limits.Depth:
		return TooLarge("%s%s is nested deeper than %d (--max-depth)", d.segment.Place(), d.name, d.limits.Depth)
	case d.values > d.limits.Values:
		return d.limits.tooManyValues(d.segment)
	case d.size > d.limits.Size:
		return TooLarge("%s%s has more than %d bytes once its aliases are expanded (--max-document-size)",
			d.segment.Place(), d.name, d.limits.Size)
	}
	return nil
}

// spend counts steps and bytes in the budget.
func (d *decoder) spend(steps, bytes int) error {
	d.pending += bytes
	if d.pending < maxPending {
		return d.meter.Spend(steps)
	}
	d.meter.Charge(steps)
	return d.flush()
}

// flush counts all pending bytes in the budget.
func (d *decoder) flush() error {
	bytes := d.pending
	d.held, d.pending = d.held+bytes, 0
	return d.meter.Hold(bytes)
}

func (d *decoder) value(n *yaml.Node, depth int) (any, error) {
	if err := d.count(len(n.Value), depth); err != nil {
		return nil, err
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return d.scalar(n)
	case yaml.AliasNode:
		return d.alias(n, depth)
	case yaml.SequenceNode:
		return d.sequence(n, depth)
	case yaml.MappingNode:
		return d.mapping(n, depth)
	case yaml.DocumentNode:
	}
	return nil, d.refuse(n, "a YAML node of an unknown kind")
}

func (d *decoder) alias(n *yaml.Node, depth int) (any, error) {
	if d.open[n.Alias] {
		return nil, d.refuse(n, "the alias *%s is inside the value that it refers to", brief(n.Value))
	}
	d.open[n.Alias] = true
	defer delete(d.open, n.Alias)
	return d.value(n.Alias, depth)
}

func (d *decoder) scalar(n *yaml.Node) (any, error) {
	var value any
	var err error
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		value, err = resolveTagged(n.ShortTag(), n.Value)
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return n.Value, nil
	default:
		value, err = resolvePlain(n.Value)
	}
	if err != nil {
		return nil, d.refuse(n, "'%s': %w", brief(n.Value), err)
	}
	return value, d.spendNumber(n.Value)
}

// spendNumber counts the steps to find out whether a scalar is a number.
func (d *decoder) spendNumber(text string) error {
	if !looksNumeric(text) {
		return nil
	}
	return d.spend(numberSteps*min(len(text), maxNumber), 0)
}

func (d *decoder) checkTag(n *yaml.Node, allowed string) error {
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != allowed {
		return d.refuse(n, "the tag %s is not read here; use plain YAML values", brief(n.ShortTag()))
	}
	return nil
}

func (d *decoder) sequence(n *yaml.Node, depth int) (any, error) {
	if err := d.checkTag(n, "!!seq"); err != nil {
		return nil, err
	}
	list := make([]any, 0, len(n.Content))
	for _, item := range n.Content {
		value, err := d.value(item, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}

func (d *decoder) mapping(n *yaml.Node, depth int) (any, error) {
	if err := d.checkTag(n, "!!map"); err != nil {
		return nil, err
	}
	merged, err := d.merges(n, depth)
	if err != nil {
		return nil, err
	}
	b := newMappingBuilder(merged, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			continue
		}
		key, err := d.key(n.Content[i], depth)
		if err != nil {
			return nil, err
		}
		value, err := d.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if first := b.set(key, value, d.line(n.Content[i].Line)); first != 0 {
			d.noteDuplicate(key, depth, func() (int, int) { return first, d.line(n.Content[i].Line) })
		}
	}
	return b.members, nil
}

// noteDuplicate adds a note about a duplicate key. lines is called only if it is needed, because it is slow for JSON.
func (d *decoder) noteDuplicate(key string, depth int, lines func() (first, second int)) {
	if depth == 1 && d.twice == nil {
		first, second := lines()
		missing := ""
		if d.segment.media == YAML {
			missing = "; is a line with --- missing between two documents?"
		}
		d.twice = Malformed("document %d%s, line %d: the key '%s' appears twice at the top level, at lines %d and %d%s",
			d.segment.Index, d.name, second, brief(key), first, second, missing)
	}
	if len(d.notes) >= maxNotes {
		d.notes = append(d.notes[:maxNotes-1], Note{Level: "Info", Message: "More keys appear twice in one mapping."})
		return
	}
	first, second := lines()
	d.notes = append(d.notes, Note{Level: "Info", Message: fmt.Sprintf(
		"The key '%s' appears twice in one mapping, at lines %d and %d; the last one wins.",
		brief(key), first, second)})
}

// maxNotes bounds the notes about a document.
const maxNotes = 10

// key returns the text of a mapping key, which must be a string or an integer (spec/rendering.md R15).
func (d *decoder) key(n *yaml.Node, depth int) (string, error) {
	value, err := d.value(n, depth+1)
	if err != nil {
		return "", err
	}
	if key, ok := keyOf(value); ok {
		return key, nil
	}
	if n.Kind == yaml.ScalarNode {
		return "", d.refuse(n, "the key '%s' is not a string; quote it", brief(n.Value))
	}
	return "", d.refuse(n, "a key must be a string, not a list or mapping; quote a text that begins with '{' or '['")
}

// keyOf returns the key that a value is as text. It reports false if the value is no string or integer.
func keyOf(value any) (string, bool) {
	switch key := value.(type) {
	case string:
		return key, true
	case Number:
		return string(key), !strings.ContainsAny(string(key), ".e")
	}
	return "", false
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && (key.Style == 0 || key.ShortTag() == "!!merge")
}

// merges returns the members that a mapping gets by <<. Of members with the same key, the last one wins.
func (d *decoder) merges(n *yaml.Node, depth int) (merged Mapping, err error) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			continue
		}
		value, err := d.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		sources, isList := value.([]any)
		if !isList {
			sources = []any{value}
		}
		for _, source := range slices.Backward(sources) {
			source, ok := source.(Mapping)
			if !ok {
				return nil, d.refuse(n.Content[i+1], "<< merges a mapping or a list of mappings only")
			}
			merged = append(merged, source...)
		}
	}
	return merged, nil
}

// ParseOne parses a body that must be exactly one document, such as a posted result. No key may be at its top level
// twice. It returns nil for an empty body.
func ParseOne(ctx context.Context, body []byte, media Media, limits Limits) (any, error) {
	if media == JSON {
		if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] == '[' {
			return nil, Malformed("one mapping is expected here, not a list")
		}
	}
	segments, err := Split(ctx, body, media, limits)
	if err != nil || len(segments) == 0 {
		return nil, err
	}
	if len(segments) > 1 {
		return nil, Malformed("one document is expected here, but line %d begins another", segments[1].Line)
	}
	entry, err := Decode(ctx, segments[0], limits)
	if err == nil && entry.Twice != nil {
		return nil, entry.Twice
	}
	return entry.Value, err
}
