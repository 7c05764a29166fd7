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

// maxDepth bounds the nesting of data and of schemas. It is the same as that of documents.
const maxDepth = 100

// errTooDeep is the error of values that are nested too deeply.
var errTooDeep = fmt.Errorf("it is nested deeper than %d levels", maxDepth)

var errMore = errors.New("there is more after its end")

// decodeSteps is the cost of a value in JSON text, besides that of its bytes.
const decodeSteps = 150

// parse parses JSON text from any source, with at most limit values, or any number if limit is negative. If a key is
// duplicate, it keeps the last value at the position of the first.
func parse(w counter, data []byte, limit int) (any, error) {
	w.spend(len(data) * decodeByte)
	v, err := readJSON(data)
	if err != nil {
		return nil, err
	}
	t := trimmer{counter: w, limit: limit}
	return t.value(v, 0)
}

// readJSON reads JSON text as document.ParseJSON does, and says what is wrong with other text.
func readJSON(data []byte) (any, error) {
	if !json.Valid(data) {
		return nil, invalid(data)
	}
	v, err := document.ParseJSON(data)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	return v, nil
}

// invalid returns an error for text that is not JSON.
func invalid(data []byte) error {
	var v any
	err := json.NewDecoder(bytes.NewReader(data)).Decode(&v)
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
	counter

	limit int // number of values; negative means none
	count int // of the values so far
}

func (t *trimmer) value(v any, depth int) (any, error) {
	t.spend(decodeSteps)
	switch {
	case depth > maxDepth:
		return nil, errTooDeep
	case t.count == t.limit:
		return nil, fmt.Errorf("it has more than %d values", t.limit)
	}
	t.count++
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

// isTooDeep charges for the values in v and reports whether it is nested more deeply than documents may be.
func isTooDeep(w counter, v any, depth int) bool {
	w.spend(decodeSteps)
	if depth > maxDepth {
		return true
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if isTooDeep(w, item, depth+1) {
				return true
			}
		}
	case mapping:
		for _, member := range v {
			if isTooDeep(w, member.Value, depth+1) {
				return true
			}
		}
	}
	return false
}

// sizeOf returns the number of values in a value, including itself.
func sizeOf(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n += sizeOf(item)
		}
	case mapping:
		for _, member := range v {
			n += sizeOf(member.Value)
		}
	}
	return n
}

// valueAt returns the value at a path, and whether there is one.
func valueAt(v any, steps []string) (any, bool) {
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

// keySet finds the keys of an object.
type keySet struct {
	members mapping
	index   map[string]struct{} // nil if a linear search is as fast
}

// fewKeys is the number of keys up to which a linear search is faster than a map.
const fewKeys = 16

// keysOf returns the keys of an object for the given number of searches.
func keysOf(w counter, object mapping, searches int) keySet {
	if len(object) <= fewKeys || searches == 1 {
		w.spend(len(object))
		return keySet{members: object}
	}
	w.spend(len(object) * lookupSteps)
	index := make(map[string]struct{}, len(object))
	for _, member := range object {
		index[member.Key] = struct{}{}
	}
	return keySet{index: index}
}

// has reports whether the object has a key.
func (k keySet) has(key string) bool {
	if k.index != nil {
		_, ok := k.index[key]
		return ok
	}
	_, ok := k.members.Lookup(key)
	return ok
}
