package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// weight is how much data there is at each depth, the root being depth 0.
type weight struct {
	values [maxDepth + 2]int // the last is always 0
	bytes  [maxDepth + 1]int // of strings and of keys
	depth  int               // the deepest level that has a value
}

// decode reads data into the values that the library takes, with bounded numbers, and weighs it.
func decode(data []byte) (any, *weight, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, nil, fmt.Errorf("it is no JSON text: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("there is more after its end")
	}
	w := new(weight)
	v, err := w.add(v, 0)
	return v, w, err
}

// add weighs v, which is at depth, and returns it with bounded numbers; maps and slices are changed in place.
func (w *weight) add(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	w.values[depth]++
	w.depth = max(w.depth, depth)
	switch v := v.(type) {
	case string:
		w.bytes[depth] += len(v)
	case json.Number:
		return bounded(v), nil
	case []any:
		return v, w.addItems(v, depth)
	case map[string]any:
		return v, w.addMembers(v, depth)
	}
	return v, nil
}

func (w *weight) addItems(items []any, depth int) error {
	for i, item := range items {
		changed, err := w.add(item, depth+1)
		if err != nil {
			return err
		}
		if _, ok := item.(json.Number); ok {
			items[i] = changed
		}
	}
	return nil
}

func (w *weight) addMembers(members map[string]any, depth int) error {
	for key, item := range members {
		w.bytes[depth] += len(key)
		changed, err := w.add(item, depth+1)
		if err != nil {
			return err
		}
		if n, ok := item.(json.Number); ok && n != changed {
			members[key] = changed
		}
	}
	return nil
}

// longNumber is the length up to which a number without an exponent is left as it is.
const longNumber = 64

// bounded returns a number that the library's exact arithmetic can afford: it writes out every digit, so that
// 1e999999 takes it milliseconds and more than that makes it panic. Numbers with an exponent become what a float64
// holds, as they are in Python, with 1e309 for infinity; an integer of more than 64 digits loses those beyond.
func bounded(n json.Number) json.Number {
	if isInteger(n) {
		return n[:min(len(n), longNumber)]
	}
	if len(n) <= longNumber && !strings.ContainsAny(string(n), "eE") {
		return n
	}
	f, _ := strconv.ParseFloat(string(n), 64) // out of range gives an infinity
	if math.IsInf(f, 0) {
		return json.Number(strings.Repeat("-", btoi(f < 0)) + "1e309")
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if isInteger(json.Number(s)) {
		s += ".0" // it must stay what it was: no integer
	}
	return json.Number(s)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isInteger says whether n is written as an integer, which is what Python goes by: 1.0 is a float.
func isInteger(n json.Number) bool { return !strings.ContainsAny(string(n), ".eE") }
