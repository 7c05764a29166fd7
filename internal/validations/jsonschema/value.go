package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

// value is a JSON value that remembers the order of its keys and the spelling of its numbers.
type value struct {
	kind  kind
	text  string         // of a text, decoded; of a number, as written; of a boolean "true" or "false"
	keys  []string       // of an object
	items []*value       // of an array, or of an object in the order of keys
	index map[string]int // of an object with more than a few keys
}

// fewKeys is how many keys are searched one by one, which is faster than a map and needs none.
const fewKeys = 8

// member returns the value of key in an object, or nil.
func (v *value) member(key string) *value {
	if i := v.position(key); i >= 0 {
		return v.items[i]
	}
	return nil
}

func (v *value) position(key string) int {
	if v.index != nil {
		if i, ok := v.index[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range v.keys {
		if k == key {
			return i
		}
	}
	return -1
}

// add puts a member at its place; of a key written twice the last value stands, at the place of the first.
func (v *value) add(key string, item *value) {
	if i := v.position(key); i >= 0 {
		v.items[i] = item
		return
	}
	v.keys, v.items = append(v.keys, key), append(v.items, item)
	if v.index != nil {
		v.index[key] = len(v.keys) - 1
	} else if len(v.keys) > fewKeys {
		v.index = make(map[string]int, 2*len(v.keys))
		for i, k := range v.keys {
			v.index[k] = i
		}
	}
}

// plain returns the value as the library takes it. Its numbers are bounded.
func (v *value) plain() any {
	switch v.kind {
	case null:
		return nil
	case boolean:
		return v.text == "true"
	case number:
		return bounded(json.Number(v.text))
	case text:
		return v.text
	case array:
		items := make([]any, len(v.items))
		for i, item := range v.items {
			items[i] = item.plain()
		}
		return items
	case object:
		members := make(map[string]any, len(v.keys))
		for i, key := range v.keys {
			members[key] = v.items[i].plain()
		}
		return members
	}
	panic(fmt.Sprintf("jsonschema: unknown kind %d", v.kind))
}

var errTooDeep = fmt.Errorf("it is nested deeper than %d levels", maxDepth)

// parser reads values from a stream of tokens under limits.
type parser struct {
	work

	tokens *json.Decoder
	left   int // values that may still come; negative means no limit
}

var errTooMany = fmt.Errorf("it has more than %d values", maxNodes)

// parse reads one JSON text of at most limit values; a negative limit means any number.
func parse(w work, data []byte, limit int) (*value, error) {
	w.spend(len(data) * decodeByte)
	p := parser{work: w, tokens: json.NewDecoder(bytes.NewReader(data)), left: limit}
	p.tokens.UseNumber()
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := p.tokens.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after its end")
	}
	return v, nil
}

func (p *parser) value(depth int) (*value, error) {
	token, err := p.token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, errTooDeep
	}
	if p.left == 0 {
		return nil, errTooMany
	}
	p.left--
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return p.object(depth)
		}
		return p.array(depth)
	case json.Number:
		return &value{kind: number, text: string(token)}, nil
	case string:
		return &value{kind: text, text: token}, nil
	case bool:
		return &value{kind: boolean, text: strconv.FormatBool(token)}, nil
	default:
		return &value{kind: null}, nil
	}
}

func (p *parser) array(depth int) (*value, error) {
	v := &value{kind: array}
	for p.tokens.More() {
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
	}
	_, err := p.token()
	return v, err
}

func (p *parser) object(depth int) (*value, error) {
	v := &value{kind: object}
	for p.tokens.More() {
		key, err := p.token()
		if err != nil {
			return nil, err
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.add(key.(string), item) //nolint:forcetypeassert // the decoder gives nothing else as a key
	}
	_, err := p.token()
	return v, err
}

// token returns the next token, which must be there.
func (p *parser) token() (json.Token, error) {
	p.spend(decodeSteps)
	token, err := p.tokens.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("it is no JSON text: %w", err)
	}
	return token, nil
}
