package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"purser/internal/document"
)

// Values have the types of package document: nil, bool, document.Number, string, []any and document.Mapping.
type mapping = document.Mapping

var (
	errTooDeep = fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	errTooMany = fmt.Errorf("it has more than %d values", maxNodes)
	errMore    = errors.New("there is more after its end")
)

// parse parses JSON text from any source, with at most limit values, or any number if limit is negative. If a key is
// duplicate, it keeps the last value at the position of the first.
func parse(w work, data []byte, limit int) (any, error) {
	w.spend(len(data) * decodeByte)
	if !json.Valid(data) {
		return nil, invalid(data)
	}
	v, err := document.ParseJSON(data)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	t := trimmer{work: w, left: limit}
	return t.value(v, 0)
}

// invalid returns an error for text that is not JSON.
func invalid(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	var v any
	err := decoder.Decode(&v)
	switch {
	case err == nil:
		return errMore
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("it is not JSON: %w", err)
}

// trimmer copies values into memory of their size, within limits.
type trimmer struct {
	work

	left int // number of further values allowed; negative means no limit
}

func (t *trimmer) value(v any, depth int) (any, error) {
	t.spend(decodeSteps)
	switch {
	case depth > maxDepth:
		return nil, errTooDeep
	case t.left == 0:
		return nil, errTooMany
	}
	t.left--
	switch v := v.(type) {
	case []any:
		return t.list(v, depth+1)
	case mapping:
		return t.object(v, depth+1)
	}
	return v, nil
}

func (t *trimmer) list(list []any, depth int) (any, error) {
	trimmed := make([]any, len(list))
	for i, item := range list {
		var err error
		if trimmed[i], err = t.value(item, depth); err != nil {
			return nil, err
		}
	}
	return trimmed, nil
}

func (t *trimmer) object(m mapping, depth int) (any, error) {
	trimmed, index := make(mapping, 0, len(m)), map[string]int(nil)
	if len(m) > fewKeys {
		index = make(map[string]int, len(m))
	}
	for _, member := range m {
		v, err := t.value(member.Value, depth)
		if err != nil {
			return nil, err
		}
		i, known := index[member.Key]
		if index == nil {
			i = slices.IndexFunc(trimmed, func(other document.Member) bool { return other.Key == member.Key })
			known = i >= 0
		}
		if known {
			trimmed[i].Value = v
			continue
		}
		if index != nil {
			index[member.Key] = len(trimmed)
		}
		trimmed = append(trimmed, document.Member{Key: member.Key, Value: v})
	}
	return trimmed, nil
}

// tooDeep charges for the values in v and reports whether it is nested more deeply than documents may be.
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

// size returns the number of values in a value, including itself.
func size(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n += size(item)
		}
	case mapping:
		for _, member := range v {
			n += size(member.Value)
		}
	}
	return n
}

// at returns the value at a path, and whether there is one.
func at(v any, steps []string) (any, bool) {
	for _, step := range steps {
		switch of := v.(type) {
		case mapping:
			found, ok := of.Lookup(step)
			if !ok {
				return nil, false
			}
			v = found
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(of) {
				return nil, false
			}
			v = of[i]
		default:
			return nil, false
		}
	}
	return v, true
}
