package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"purser/internal/document"
)

// Values are those of document: nil, bool, document.Number, string, []any and document.Mapping.
type mapping = document.Mapping

var (
	errTooDeep = fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	errTooMany = fmt.Errorf("it has more than %d values", maxNodes)
	errMore    = errors.New("there is more after its end")
)

// parse reads JSON text of any origin, of at most limit values; a negative limit means any number. Of a key written
// twice the last value counts, at the place of the first.
func parse(w work, data []byte, limit int) (any, error) {
	w.spend(len(data) * decodeByte)
	p := parser{work: w, tokens: json.NewDecoder(bytes.NewReader(data)), left: limit}
	p.tokens.UseNumber()
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := p.tokens.Token(); !errors.Is(err, io.EOF) {
		return nil, errMore
	}
	return v, nil
}

// parser reads values from a stream of tokens under limits.
type parser struct {
	work

	tokens *json.Decoder
	left   int // values that may still come; negative means no limit
}

func (p *parser) value(depth int) (any, error) {
	token, err := p.token()
	switch {
	case err != nil:
		return nil, err
	case depth > maxDepth:
		return nil, errTooDeep
	case p.left == 0:
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
		return document.Number(token), nil
	default:
		return token, nil
	}
}

func (p *parser) array(depth int) (any, error) {
	list := []any{}
	for p.tokens.More() {
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err := p.token()
	return list, err
}

func (p *parser) object(depth int) (any, error) {
	m, index := mapping{}, map[string]int{}
	for p.tokens.More() {
		token, err := p.token()
		if err != nil {
			return nil, err
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		key := token.(string) //nolint:forcetypeassert // the decoder gives nothing else as a key
		if i, ok := index[key]; ok {
			m[i].Value = item
			continue
		}
		index[key] = len(m)
		m = append(m, document.Member{Key: key, Value: item})
	}
	_, err := p.token()
	return m, err
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

// tooDeep counts the values in a value and reports whether it is nested deeper than documents are.
func tooDeep(w work, v any, depth int) bool {
	w.spend(lookupSteps)
	if depth > maxDepth {
		return true
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if tooDeep(w, item, depth+1) {
				return true
			}
		}
	case mapping:
		for _, member := range v {
			if tooDeep(w, member.Value, depth+1) {
				return true
			}
		}
	}
	return false
}
