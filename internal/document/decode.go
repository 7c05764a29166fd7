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
)

// Entry is one decoded document of a body, before any check of what it says.
type Entry struct {
	Value   any // a Mapping if it is a document at all
	Notes   []Note
	Segment Digest
	Index   int // position among the body's documents; counts from 1
	Line    int // of the body, where it begins
}

// Note is something worth knowing about a document that is no failure (spec/api.md §0 D20).
type Note struct {
	Message string `json:"message"`
	Error   bool   `json:"error"`
	Level   string `json:"level"`
}

// IsDocument tells whether the entry is a mapping with something in it, which every document must be.
func (e Entry) IsDocument() bool {
	m, ok := e.Value.(Mapping)
	return ok && len(m) > 0
}

// Decode parses a segment. Faults: Invalid for what cannot be read or kept as JSON, TooLarge beyond limits or the
// budget; the message names document, line and column as far as they are known. The memory that it needs is taken from
// the budget until it returns.
func Decode(ctx context.Context, s Segment, limits Limits) (Entry, error) {
	if s.known != nil {
		return s.known.entry, s.known.err
	}
	if err := limits.checkText(s); err != nil {
		return Entry{}, err
	}
	d := &decoder{segment: s, limits: limits, meter: budget.NewMeter(ctx)}
	defer d.release()
	read := d.yaml
	if s.media == JSON {
		read = d.json
	}
	known := d.decode(read)
	return known.entry, known.err
}

// decoder turns one parsed segment into a value, counting what it produces.
type decoder struct {
	segment Segment
	limits  Limits
	meter   *budget.Meter
	notes   []Note
	values  int
	size    int
	pending int                 // bytes of values that the budget does not know yet
	held    int                 // bytes of values that it knows
	open    map[*yaml.Node]bool // anchored nodes whose aliases are being expanded
	name    string              // what the document calls itself, for messages
}

// What a value costs: the steps to make it, those of each byte of a number, and the bytes of memory besides its text.
const (
	valueSteps  = 400
	numberSteps = 100
	valueBytes  = 128
	maxPending  = 64 << 10 // bytes after which the budget is told
)

// decode reads the segment and says of a budget that does not suffice which document needed it.
func (d *decoder) decode(read func() (any, error)) decoded {
	d.open = make(map[*yaml.Node]bool)
	value, err := read()
	if err == nil {
		err = d.flush()
	}
	s := d.segment
	if err != nil {
		return decoded{Entry{}, budget.About(err, "%s%s", s.place(), d.name)}
	}
	return decoded{Entry{Value: value, Notes: d.notes, Segment: s.Digest, Index: s.Index, Line: s.Line}, nil}
}

func (d *decoder) release() { d.meter.Release(d.held) }

func (d *decoder) yaml() (any, error) {
	p := &parser{meter: d.meter}
	defer p.release()
	var node *yaml.Node
	found := 0
	err := p.parse(d.segment.Text, func(n *yaml.Node) bool { node, found = n, found+1; return found < 2 })
	if syntax, ok := errors.AsType[*syntaxError](err); ok {
		return nil, Malformed("document %d%s", d.segment.Index, d.shiftLine(syntax))
	}
	if err != nil {
		return nil, err
	}
	if found > 1 {
		return nil, Malformed("%s holds a border of documents behind a line break that is no line feed (LF); "+
			"write the body with line feeds", d.segment.place())
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

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// shiftLine rewrites a parser's error, whose line counts from the segment, to count from the body.
func (d *decoder) shiftLine(err error) string {
	text := err.Error()
	found := yamlLine.FindStringSubmatch(text)
	if found == nil || found[1] == "" {
		return fmt.Sprintf(" (from line %d): %s", d.segment.Line, strings.TrimPrefix(text, "yaml: "))
	}
	line, _ := strconv.Atoi(found[1])
	return fmt.Sprintf(", line %d: %s", d.line(line), text[len(found[0]):])
}

func (d *decoder) line(line int) int { return d.segment.Line - 1 + line }

// nameOf looks for what a document calls itself, so that an error deep inside can name it.
func nameOf(root *yaml.Node) string {
	schema := memberNode(root, "schema")
	name := memberNode(memberNode(root, "metadata"), "name")
	if schema == nil || name == nil || schema.Value == "" {
		return ""
	}
	return " [" + brief(schema.Value) + "] " + brief(name.Value)
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

// count charges the limits for one more value of some bytes.
func (d *decoder) count(bytes, depth int) error {
	d.values++
	d.size += bytes
	switch {
	case depth > d.limits.Depth:
		return TooLarge("%s%s is nested deeper than %d (--max-depth)", d.segment.place(), d.name, d.limits.Depth)
	case d.values > d.limits.Values:
		return d.limits.tooManyValues(d.segment)
	case d.size > d.limits.Size:
		return TooLarge("%s%s has more than %d bytes once its aliases are expanded (--max-document-size)",
			d.segment.place(), d.name, d.limits.Size)
	}
	return d.spend(valueSteps, valueBytes)
}

// spend takes steps and bytes from the budget.
func (d *decoder) spend(steps, bytes int) error {
	d.pending += bytes
	if d.pending < maxPending {
		return d.meter.Spend(steps)
	}
	d.meter.Charge(steps)
	return d.flush()
}

// flush tells the budget of all memory so far.
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
		return nil, d.refuse(n, "the alias *%s stands inside what it refers to", brief(n.Value))
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
	if looksNumeric(n.Value) {
		return value, d.spend(numberSteps*min(len(n.Value), longestNumber), 0)
	}
	return value, nil
}

func (d *decoder) checkTag(n *yaml.Node, usual string) error {
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != usual {
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
			d.noteDuplicate(key, func() (int, int) { return first, d.line(n.Content[i].Line) })
		}
	}
	return b.members, nil
}

// noteDuplicate notes a key that stands twice; of JSON text, lines are slow to tell.
func (d *decoder) noteDuplicate(key string, lines func() (first, second int)) {
	if len(d.notes) >= mostNotes {
		d.notes = append(d.notes[:mostNotes-1], Note{Level: "Info", Message: "More keys stand twice in one mapping."})
		return
	}
	first, second := lines()
	d.notes = append(d.notes, Note{Level: "Info", Message: fmt.Sprintf(
		"The key '%s' stands twice in one mapping, at lines %d and %d; the last one wins.",
		brief(key), first, second)})
}

// mostNotes is how many notes a document may carry.
const mostNotes = 10

// key gives the text of a mapping key: strings and integers only (spec/rendering.md R15).
func (d *decoder) key(n *yaml.Node, depth int) (string, error) {
	value, err := d.value(n, depth+1)
	if err != nil {
		return "", err
	}
	switch key := value.(type) {
	case string:
		return key, nil
	case Number:
		if !strings.ContainsAny(string(key), ".e") {
			return string(key), nil
		}
	}
	if n.Kind == yaml.ScalarNode {
		return "", d.refuse(n, "'%s' as a key is no string; quote it", brief(n.Value))
	}
	return "", d.refuse(n, "a key must be a string, not a list or mapping")
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && (key.Style == 0 || key.ShortTag() == "!!merge")
}

// merges gives the members that a mapping takes over by <<, those that win later.
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

// mappingBuilder collects members; a key that comes again replaces the value and keeps its place.
type mappingBuilder struct {
	members Mapping
	at      map[string]place
}

type place struct{ index, line int }

func newMappingBuilder(merged Mapping, size int) *mappingBuilder {
	b := &mappingBuilder{
		members: make(Mapping, 0, len(merged)+size),
		at:      make(map[string]place, len(merged)+size),
	}
	for _, m := range merged {
		b.set(m.Key, m.Value, 0)
	}
	return b
}

// set stores a member and returns the line of the same mapping's earlier member with that key, 0 if there is none.
func (b *mappingBuilder) set(key string, value any, line int) (first int) {
	if known, ok := b.at[key]; ok {
		b.members[known.index].Value = value
		b.at[key] = place{known.index, line}
		return known.line
	}
	b.at[key] = place{len(b.members), line}
	b.members = append(b.members, Member{key, value})
	return 0
}

// ParseOne reads a body that must hold exactly one document, such as a posted validation; an empty one gives nil.
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
	return entry.Value, err
}
