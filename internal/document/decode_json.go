package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// tokenSteps is the cost of reading a token of JSON besides its bytes, in the budget's steps.
const tokenSteps = 300

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
		return nil, d.segment.malformedAt(positionIn(d.segment.Text, int(before)), notJSON)
	}
	bytes := int(tokens.InputOffset() - before)
	if err := d.count(bytes, depth); err != nil {
		return nil, err
	}
	if err := d.spend(tokenSteps+bytes*byteSteps, bytes); err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return d.jsonList(tokens, depth)
		}
		return d.jsonMapping(tokens, depth)
	case json.Number:
		number, wrong := jsonNumber(string(t))
		if wrong != "" {
			return nil, d.segment.malformedAt(positionIn(d.segment.Text, offset(tokens)-len(t)), wrong)
		}
		return number, nil
	}
	return token, nil
}

func jsonNumber(text string) (any, rule) {
	if !strings.ContainsAny(text, ".eE") {
		return integer(text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if errors.Is(err, strconv.ErrRange) && math.IsInf(f, 0) {
		return nil, floatTooBig
	}
	return FormatFloat(f), ""
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
		before := offset(tokens)
		key, err := d.jsonValue(tokens, depth+1)
		if err != nil {
			return nil, err
		}
		value, err := d.jsonValue(tokens, depth+1)
		if err != nil {
			return nil, err
		}
		if first := b.set(key.(string), value, before); first != 0 { //nolint:forcetypeassert // JSON has no other keys
			positions := func() (Position, Position) { return d.jsonPosition(first), d.jsonPosition(before) }
			d.noteDuplicate(key.(string), depth, positions) //nolint:forcetypeassert // as above
		}
	}
	_, _ = tokens.Token() // the bracket that More found
	return b.members, nil
}

// jsonPosition returns the position of the token after an offset.
func (d *decoder) jsonPosition(after int) Position {
	return positionIn(d.segment.Text, nextToken(d.segment.Text, after))
}

// nextToken returns the offset of the first token of JSON after an offset.
func nextToken(text []byte, after int) int {
	return len(text) - len(bytes.TrimLeft(text[after:], " \t\r\n,:"))
}
