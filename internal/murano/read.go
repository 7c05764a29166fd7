package murano

import (
	"errors"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"purser/internal/budget"
	"purser/internal/document"
)

// yamlError describes why a text cannot be read, and where. It quotes no part of the text. Line is -1 if it is unknown.
type yamlError struct {
	Message      string
	Line, Column int
}

func (p *yamlError) Error() string { return p.Message }

// The costs of a value in the budget: steps to create it, and bytes of memory.
const (
	valueSteps = 100
	mergeSteps = 300    // to copy an entry
	textSteps  = 20_000 // to read a text, however short
	valueBytes = 160
	// maxDepth bounds the nesting of values, because callers may walk them recursively. Python gives up earlier.
	maxDepth = 500
)

// parseYAML returns the documents of a text. A document without content is a null. The error is a *yamlError if the
// text cannot be read. Other errors come from the budget.
func parseYAML(meter *budget.Meter, text []byte) ([]*Value, error) {
	meter.Charge(textSteps)
	documents, release, err := document.Parse(meter, text)
	defer release()
	if mistake, ok := errors.AsType[*document.Mistake](err); ok {
		return nil, &yamlError{Message: mistake.Rule, Line: mistake.At.Line - 1}
	}
	if err != nil {
		return nil, err
	}
	var docs []*Value
	for _, node := range documents {
		r := reader{meter: meter, made: map[*yaml.Node]*Value{}, anchors: map[string]bool{}}
		doc, err := r.value(node, 0)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// reader creates the values of one document.
type reader struct {
	meter   *budget.Meter
	made    map[*yaml.Node]*Value // values of nodes with anchors; nil until complete
	anchors map[string]bool
}

// rule says what a text violates. It is written in this package and never taken from a text.
type rule string

func (r rule) Error() string { return string(r) }

const (
	badMerge rule = "<< needs a mapping or a list of mappings"
	tooDeep  rule = "it is nested deeper than 500" // maxDepth
)

func problemAt(node *yaml.Node, r rule) error {
	return &yamlError{Message: string(r), Line: node.Line - 1, Column: node.Column - 1}
}

func (r *reader) value(node *yaml.Node, depth int) (*Value, error) {
	if node.Kind == yaml.AliasNode {
		if made := r.made[node.Alias]; made != nil {
			return made, nil
		}
		return nil, problemAt(node, "an alias stands within its own value")
	}
	r.meter.Charge(valueSteps)
	if err := r.meter.Spend(len(node.Value)); err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, problemAt(node, tooDeep)
	}
	if err := r.anchor(node, nil); err != nil {
		return nil, err
	}
	v := &Value{Line: node.Line - 1, Column: node.Column - 1}
	var err error
	switch node.Kind {
	case yaml.SequenceNode:
		err = r.sequence(v, node, depth)
	case yaml.MappingNode:
		err = r.mapping(v, node, depth)
	case yaml.ScalarNode, yaml.DocumentNode, yaml.AliasNode:
		err = v.scalar(node)
	}
	if r, violated := errors.AsType[rule](err); violated {
		err = problemAt(node, r)
	}
	if err != nil {
		return nil, err
	}
	if node.Anchor != "" {
		r.made[node] = v
	}
	return v, r.meter.Hold(valueBytes)
}

// anchor records the anchor of a node, if it has one, and the value that its aliases share.
func (r *reader) anchor(node *yaml.Node, v *Value) error {
	if node.Anchor == "" {
		return nil
	}
	if r.anchors[node.Anchor] {
		return problemAt(node, "an anchor appears twice")
	}
	r.anchors[node.Anchor], r.made[node] = true, v
	return nil
}

func (v *Value) scalar(node *yaml.Node) error {
	switch {
	case node.Style&yaml.TaggedStyle != 0:
		return v.tagged(node.Tag, node.Value)
	case node.Style&^yaml.FlowStyle == 0:
		return v.resolve(node.Value)
	}
	v.Kind, v.Text = String, node.Value
	return nil
}

func (r *reader) sequence(v *Value, node *yaml.Node, depth int) error {
	v.Kind = Seq
	switch tagOf(node) {
	case "", "!!seq":
	case "!!omap", "!!pairs":
		v.Kind, v.Text = Other, "[]"
	default:
		return problemAt(node, errTag(node.Tag))
	}
	for _, child := range node.Content {
		item, err := r.value(child, depth+1)
		if err != nil {
			return err
		}
		v.Items = append(v.Items, item)
	}
	return nil
}

// tagOf returns the explicit tag of a node, "" if it has none.
func tagOf(node *yaml.Node) string {
	if node.Style&yaml.TaggedStyle == 0 {
		return ""
	}
	return node.Tag
}

func (r *reader) mapping(v *Value, node *yaml.Node, depth int) error {
	v.Kind = Map
	switch tagOf(node) {
	case "", "!!map":
	case "!!set":
		v.Kind, v.Text = Other, "set()"
	default:
		return problemAt(node, errTag(node.Tag))
	}
	var own, merged []pair
	for i := 0; i+1 < len(node.Content); i += 2 {
		keyNode, valueNode := node.Content[i], node.Content[i+1]
		if isMerge(keyNode) {
			more, err := r.merge(valueNode, depth)
			if err != nil {
				return err
			}
			merged = append(merged, more...)
			if err := r.meter.Spend(mergeSteps * len(more)); err != nil {
				return err
			}
			continue
		}
		key, err := r.key(keyNode, depth)
		if err != nil {
			return err
		}
		value, err := r.value(valueNode, depth+1)
		if err != nil {
			return err
		}
		own = append(own, pair{key, value})
	}
	return r.fill(v, merged, own)
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Style&^yaml.FlowStyle == 0 && key.Value == "<<"
}

// key returns a key, which must be a scalar. The plain key = is a string.
func (r *reader) key(node *yaml.Node, depth int) (*Value, error) {
	if node.Kind == yaml.ScalarNode && node.Style&^yaml.FlowStyle == 0 && node.Value == "=" {
		key := &Value{Kind: String, Text: "=", Line: node.Line - 1, Column: node.Column - 1}
		return key, r.anchor(node, key)
	}
	key, err := r.value(node, depth+1)
	if err != nil {
		return nil, err
	}
	if key.Kind == Seq || key.Kind == Map || key.Kind == Other && key.Text[0] != 'b' {
		return nil, problemAt(node, "a key is a list or a mapping; it must be a scalar")
	}
	return key, nil
}

// merge returns the entries of the mappings of a merge key. Later entries override earlier ones.
func (r *reader) merge(node *yaml.Node, depth int) ([]pair, error) {
	value, err := r.value(node, depth+1)
	if err != nil {
		return nil, err
	}
	switch value.Kind {
	case Map:
		return value.Entries, nil
	case Seq:
		var entries []pair
		for _, item := range slices.Backward(value.Items) {
			if item.Kind != Map {
				return nil, problemAt(node, badMerge)
			}
			entries = append(entries, item.Entries...)
			if err := r.meter.Spend(mergeSteps * len(item.Entries)); err != nil {
				return nil, err
			}
		}
		return entries, nil
	case Null, Bool, Int, Float, Date, String, Other:
	}
	return nil, problemAt(node, badMerge)
}

// fill sets the entries of a mapping. A duplicate key keeps its first position and its last value.
func (r *reader) fill(v *Value, merged, own []pair) error {
	at := make(map[string]int, len(merged)+len(own))
	written := map[string]bool{}
	v.Entries = make([]pair, 0, len(merged)+len(own))
	for i, e := range slices.Concat(merged, own) {
		name := e.Key.identity()
		if i >= len(merged) && written[name] {
			v.Twice = append(v.Twice, e.Key)
		}
		written[name] = written[name] || i >= len(merged)
		if j, known := at[name]; known {
			v.Entries[j].Value = e.Value
			continue
		}
		at[name] = len(v.Entries)
		v.Entries = append(v.Entries, e)
	}
	v.at = at
	return r.meter.Hold(2 * valueBytes * len(v.Entries))
}

// identity returns a text that is equal for two keys if they are equal in Python.
func (v *Value) identity() string {
	switch v.Kind {
	case Bool:
		if v.falsy {
			return "n0"
		}
		return "n1"
	case Int:
		return "n" + v.Text
	case Float:
		if f, err := strconv.ParseFloat(v.Text, 64); err == nil && f == float64(int64(f)) {
			return "n" + strconv.FormatInt(int64(f), 10)
		}
		return "n" + v.Text
	case Null, Date, String, Seq, Map, Other:
	}
	return identityOf(v.Kind, v.Text)
}

func identityOf(kind Kind, text string) string { return string('0'+rune(kind)) + text }
