package document

import (
	"errors"
	"slices"

	"gopkg.in/yaml.v3"

	"purser/internal/budget"
)

func (d *decoder) yaml() (any, error) {
	p := &parser{meter: d.meter}
	defer p.release()
	documents, err := p.parse(d.segment.Text, 2)
	if syntax, ok := errors.AsType[*syntaxError](err); ok {
		if syntax.deep {
			return nil, d.tooDeep()
		}
		return nil, unreadable(d.meter, d.segment, syntax)
	}
	switch {
	case err != nil:
		return nil, err
	case len(documents) > 1:
		return nil, d.segment.malformed(YAML, "a --- or ... follows a line break that is not a line feed (LF); write the "+
			"body with line feeds")
	case len(documents) == 0:
		return nil, nil
	}
	return d.value(documents[0], 1)
}

// unreadable returns the fault for a text that the YAML library refuses.
func unreadable(meter *budget.Meter, s Segment, refused *syntaxError) error {
	const maxText, diagnosisSteps = 1 << 20, 300 // diagnosisSteps: per byte
	var found *syntaxError
	if !refused.own && refused.column == 0 && len(s.Text) <= maxText {
		meter.Charge(len(s.Text) * diagnosisSteps)
		if err := meter.Check(); err != nil {
			return err
		}
		found = findMistake(s.Text, s.line(1))
	}
	if found != nil && (refused.early || refused.line == 0 || found.line <= refused.line) {
		refused = found
	}
	if refused.line == 0 {
		return s.malformed(YAML, refused.rule)
	}
	return s.malformedAt(Position{refused.line, refused.column}, refused.rule)
}

// refuse returns a fault about a node. It quotes no part of the text, which may be a secret.
func (d *decoder) refuse(n *yaml.Node, rule rule) error {
	return d.segment.malformedAt(Position{n.Line, n.Column}, rule)
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
		return nil, d.refuse(n, "an alias is inside the value that it refers to; write that value again without it")
	}
	d.open[n.Alias] = true
	defer delete(d.open, n.Alias)
	return d.value(n.Alias, depth)
}

func (d *decoder) scalar(n *yaml.Node) (any, error) {
	var value any
	var wrong rule
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		value, wrong = resolveTagged(n.ShortTag(), n.Value)
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return n.Value, nil
	default:
		value, wrong = resolvePlain(n.Value)
	}
	if wrong != "" {
		return nil, d.refuse(n, wrong)
	}
	return value, d.spendNumber(n.Value)
}

func (d *decoder) checkTag(n *yaml.Node, allowed string) error {
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != allowed {
		return d.refuse(n, unreadTag(n.ShortTag()))
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
		if first := b.set(key, value, i+1); first != 0 {
			at := func(place int) Position { return Position{n.Content[place-1].Line, n.Content[place-1].Column} }
			d.noteDuplicate(key, depth, func() (Position, Position) { return at(first), at(i + 1) })
		}
	}
	return b.members, nil
}

// valueKey is a plain scalar that is a string as a key and reserved elsewhere, as in PyYAML.
const valueKey = "="

// key returns a mapping key as text. It must be a string or an integer.
func (d *decoder) key(n *yaml.Node, depth int) (string, error) {
	if n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == valueKey {
		n.Style = yaml.DoubleQuotedStyle // for its aliases too
	}
	value, err := d.value(n, depth+1)
	if err != nil {
		return "", err
	}
	if key, ok := keyOf(value); ok {
		return key, nil
	}
	if n.Kind == yaml.ScalarNode {
		return "", d.refuse(n, "a key must be a string or an integer; quote it to keep the text")
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
			if err := d.spend(mergeSteps*len(source), 0); err != nil {
				return nil, err
			}
			merged = append(merged, source...)
		}
	}
	return merged, nil
}
