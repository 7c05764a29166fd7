// Package values reads JSON text into values and finds values in them.
//
// Values have the types of package document: nil, bool, document.Number, string, []any and document.Mapping. Members
// keep their order, which matters to the wording of messages alone. Nothing here modifies a value.
package values

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"purser/internal/document"
	"purser/internal/validations/jsonschema/work"
)

// maxDepth bounds the nesting of data and of schemas. It is the same as that of documents.
const maxDepth = 100

// ErrTooDeep is the error of values that are nested too deeply.
var ErrTooDeep = fmt.Errorf("it is nested deeper than %d levels", maxDepth)

var errMore = errors.New("there is more after its end")

// decodeSteps is the cost of a value in JSON text, besides that of its bytes.
const decodeSteps = 150

// Parse parses JSON text from any source, with at most limit values, or any number if limit is negative. If a key is
// duplicate, it keeps the last value at the position of the first.
func Parse(w work.Counter, data []byte, limit int) (any, error) {
	w.Spend(len(data) * work.DecodeByte)
	if !json.Valid(data) {
		return nil, invalid(data)
	}
	v, err := document.ParseJSON(data)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	t := trimmer{Counter: w, limit: limit}
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
	work.Counter

	limit int // number of values; negative means none
	count int // of the values so far
}

func (t *trimmer) value(v any, depth int) (any, error) {
	t.Spend(decodeSteps)
	switch {
	case depth > maxDepth:
		return nil, ErrTooDeep
	case t.count == t.limit:
		return nil, fmt.Errorf("it has more than %d values", t.limit)
	}
	t.count++
	switch v := v.(type) {
	case []any:
		return t.list(v, depth+1)
	case document.Mapping:
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

func (t *trimmer) object(m document.Mapping, depth int) (any, error) {
	trimmed, index := make(document.Mapping, 0, len(m)), map[string]int(nil)
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

// IsTooDeep charges for the values in v and reports whether it is nested more deeply than documents may be.
func IsTooDeep(w work.Counter, v any, depth int) bool {
	w.Spend(decodeSteps)
	if depth > maxDepth {
		return true
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if IsTooDeep(w, item, depth+1) {
				return true
			}
		}
	case document.Mapping:
		for _, member := range v {
			if IsTooDeep(w, member.Value, depth+1) {
				return true
			}
		}
	}
	return false
}

// Size returns the number of values in a value, including itself.
func Size(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n += Size(item)
		}
	case document.Mapping:
		for _, member := range v {
			n += Size(member.Value)
		}
	}
	return n
}

// At returns the value at a path, and whether there is one.
func At(v any, steps []string) (any, bool) {
	for _, step := range steps {
		switch of := v.(type) {
		case document.Mapping:
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

// Text returns a value as a string, "" if it is not a string.
func Text(v any) string {
	s, _ := v.(string)
	return s
}

// Texts returns the strings of a list.
func Texts(list any) (all []string) {
	items, _ := list.([]any)
	for _, item := range items {
		all = append(all, Text(item))
	}
	return all
}
