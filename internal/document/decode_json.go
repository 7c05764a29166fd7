package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// json decodes an item of a JSON array. splitJSON has checked its syntax.
func (d *decoder) json() (any, error) {
	tokens := json.NewDecoder(bytes.NewReader(d.segment.Text))
	tokens.UseNumber()
	return d.jsonValue(tokens, 1)
}

func (d *decoder) jsonValue(tokens *json.Decoder, depth int) (any, error) {
	before := tokens.InputOffset()
	token, err := tokens.Token()
	if err != nil {
		return nil, malformedJSON("document %d: %w", d.segment.Index, err)
	}
	bytes := int(tokens.InputOffset() - before)
	if err := d.count(bytes, depth); err != nil {
		return nil, err
	}
	if err := d.spend(bytes*byteSteps, bytes); err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return d.jsonList(tokens, depth)
		}
		return d.jsonMapping(tokens, depth)
	case json.Number:
		number, err := jsonNumber(string(t))
		if err != nil {
			at := cursor{text: d.segment.Text, line: d.line(1), column: 1 + d.segment.indent}
			at.advance(offset(tokens) - len(t))
			return nil, malformedJSON("document %d, line %d, column %d: %w", d.segment.Index, at.line, at.column, err)
		}
		return number, nil
	}
	return token, nil
}

func jsonNumber(text string) (any, error) {
	if !strings.ContainsAny(text, ".eE") {
		return integer(text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if errors.Is(err, strconv.ErrRange) && math.IsInf(f, 0) {
		return nil, errNotFinite
	}
	return FormatFloat(f), nil
}

func (d *decoder) jsonList(tokens *json.Decoder, depth int) (any, error) {
	list := []any{}
	for tokens.More() {
		item, err := d.jsonValue(tokens, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, _ = tokens.Token() // the bracket that More found
	return list, nil
}

func (d *decoder) jsonMapping(tokens *json.Decoder, depth int) (any, error) {
	b := newMappingBuilder(nil, 0)
	for tokens.More() {
		key, err := d.jsonValue(tokens, depth+1)
		if err != nil {
			return nil, err
		}
		at := offset(tokens)
		value, err := d.jsonValue(tokens, depth+1)
		if err != nil {
			return nil, err
		}
		if first := b.set(key.(string), value, at); first != 0 { //nolint:forcetypeassert // JSON has no other keys
			lines := func() (int, int) { return d.lineAt(first), d.lineAt(at) }
			d.noteDuplicate(key.(string), depth, lines) //nolint:forcetypeassert // as above
		}
	}
	_, _ = tokens.Token() // the bracket that More found
	return b.members, nil
}
