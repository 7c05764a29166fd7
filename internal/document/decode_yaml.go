package document

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"purser/internal/budget"
	"purser/internal/document/syntax"
)

func (d *decoder) yaml() (any, error) {
	p := &parser{meter: d.meter}
	defer p.release()
	var node *yaml.Node
	found := 0
	err := p.parse(d.segment.Text, func(n *yaml.Node) bool { node, found = n, found+1; return found < 2 })
	if syntax, ok := errors.AsType[*syntaxError](err); ok {
		if strings.HasSuffix(syntax.text, tooNested) {
			return nil, d.tooDeep()
		}
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

// unreadable returns the fault for a text that the YAML library refuses.
func unreadable(meter *budget.Meter, s Segment, refused *syntaxError) error {
	const maxText, diagnosisSteps = 1 << 20, 300 // diagnosisSteps: per byte
	var found *syntax.Mistake
	if !refused.own && len(s.Text) <= maxText {
		meter.Charge(len(s.Text) * diagnosisSteps)
		if err := meter.Check(); err != nil {
			return err
		}
		found = syntax.Find(s.Text, s.line(1))
	}
	if found != nil {
		at := cursor{text: s.Text, line: 1, column: 1}
		at.advance(found.Offset)
		return Malformed("document %d, line %d, column %d: %s", s.Index, s.line(at.line), at.column, found.Message)
	}
	said := yamlLine.FindStringSubmatch(refused.text)
	if said == nil || said[1] == "" {
		return Malformed("document %d (from line %d): %s", s.Index, s.Line,
			reworded(strings.TrimPrefix(refused.text, "yaml: ")))
	}
	line, _ := strconv.Atoi(said[1])
	message := refused.text[len(said[0]):]
	if ofParser.MatchString(message) {
		line++ // the scanner counts from 0
	}
	return Malformed("document %d, line %d: %s", s.Index, s.line(line), reworded(message))
}

// tooNested is the end of the library's messages about flow collections that are nested too deeply.
const tooNested = "exceeded max depth of 10000"

// reworded returns a helpful message for some errors that syntax.Find does not look for.
func reworded(message string) string {
	switch message {
	case "found incompatible YAML document":
		return "the directive %YAML asks for another version than 1.1 or 1.2; remove it"
	case "found invalid Unicode character escape code":
		return "an escape in double quotes stands for no character: \\ud800, for example, is half of one; write the " +
			"character itself"
	case "mapping values are not allowed in this context":
		return "a key cannot stand here: it is on the line of ---, after another value, or longer than 1024 characters; " +
			"begin it on a line of its own, or quote the text with the colon"
	}
	return message
}

var (
	yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	// ofParser matches messages of the library's parser. All others come from its scanner.
	ofParser = regexp.MustCompile(`^did not find expected (<|key|node|'-'|',')`)
)

// nameOf returns the schema and name of a document for messages, or "" if it has none.
func nameOf(root *yaml.Node) string {
	schema := memberNode(root, "schema")
	name := memberNode(memberNode(root, "metadata"), "name")
	if schema == nil || name == nil {
		return ""
	}
	return named(schema.Value, name.Value)
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
		return nil, d.refuse(n, "%w", err) // the value may be a secret
	}
	return value, d.spendNumber(n.Value)
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

// key returns a mapping key as text. It must be a string or an integer (spec/rendering.md R15).
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

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && (key.Style == 0 || key.ShortTag() == "!!merge")
}

// merges returns the members that << merges into a mapping. If several have the same key, the last one wins.
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
