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

// extent is how large data is, as far as the cost of a check depends on it.
type extent struct {
	bytes int // of texts and keys
	path  int // bytes of the longest path to a value
	key   int // bytes of the longest key
}

// decode reads data into the values that the library takes, with bounded numbers, and measures it.
func decode(w work, data []byte) (any, extent, error) {
	w.spend(len(data) * decodeByte)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, extent{}, fmt.Errorf("it is no JSON text: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, extent{}, errors.New("there is more after its end")
	}
	if n, ok := v.(json.Number); ok {
		v = bounded(n)
	}
	measured, err := measure(w, v)
	return v, measured, err
}

// measure bounds the numbers in a value, changing its maps and slices, and returns its extent.
func measure(w work, v any) (extent, error) {
	m := measurer{work: w}
	if err := m.add(v, 0, 0); err != nil {
		return extent{}, err
	}
	return m.extent, nil
}

type measurer struct {
	work
	extent
}

// add measures v, which is at a depth and has a path of so many bytes.
func (m *measurer) add(v any, depth, path int) error {
	if depth > maxDepth {
		return errTooDeep
	}
	m.spend(decodeSteps)
	m.path = max(m.path, path)
	switch v := v.(type) {
	case string:
		m.bytes += len(v)
	case []any:
		return m.addItems(v, depth+1, path+len("/000000"))
	case map[string]any:
		return m.addMembers(v, depth+1, path+len("/"))
	}
	return nil
}

func (m *measurer) addItems(items []any, depth, path int) error {
	for i, item := range items {
		if n, ok := item.(json.Number); ok {
			items[i] = bounded(n)
		}
		if err := m.add(item, depth, path); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurer) addMembers(members map[string]any, depth, path int) error {
	for key, item := range members {
		m.bytes += len(key)
		m.key = max(m.key, len(key))
		if n, ok := item.(json.Number); ok {
			if changed := bounded(n); changed != n {
				members[key] = changed
			}
		}
		if err := m.add(item, depth, path+len(key)); err != nil {
			return err
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
