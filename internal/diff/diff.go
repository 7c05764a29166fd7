// Package diff says how two values of documents, or two texts, differ.
//
// Deep says it as python-deepdiff prints it, Patch as a JSON patch (RFC 6902), Unified as a unified diff of texts. Deep
// and Patch walk two values side by side: mappings by key, lists by position or, where items can be identified,
// aligned.
//
//	before ─┐          ┌─ mappings: pairs ─┐
//	        ├─ compare ┤                   ├─ differences, each with its path
//	after  ─┘          └─ lists:    align ─┘
//
// Invariants:
//   - The order of a mapping's keys is not a difference; the keys of the old mapping come first, in their order.
//   - Applying Patch(a, b) to a gives a value whose canonical text is that of b, down to 1.0 and 1.00; Deep compares
//     numbers of one type as numbers.
//   - Time and memory are linear in the size of the compared values, whatever they are: aligning, comparing lines and
//     writing paths are bounded, and beyond their bounds the outcome is coarser but still correct.
package diff

import (
	"context"
	"strconv"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
)

// pair has the values of two mappings at one key.
type pair struct {
	key           string
	before, after any
	was, is       bool // whether each of them has the key
}

// pairs returns the keys of two mappings: those of the first in its order, then those that only the second has.
func (m *meter) pairs(before, after document.Mapping) []pair {
	m.charge(entryCost * (len(before) + len(after)))
	if m.hold(entrySize * (len(before) + len(after))); m.err != nil {
		return nil
	}
	defer m.hold(-entrySize * (len(before) + len(after)))
	all := make([]pair, 0, len(before))
	places := make(map[string]int, len(before))
	for i, member := range before {
		places[member.Key] = i
		all = append(all, pair{key: member.Key, before: member.Value, was: true})
	}
	for _, member := range after {
		i, was := places[member.Key]
		if !was {
			i = len(all)
			all = append(all, pair{key: member.Key})
		}
		all[i].after, all[i].is = member.Value, true
	}
	return all
}

// areScalars reports whether no item of a list is a list or mapping, so that Python can hash all of them.
func areScalars(list []any) bool {
	for _, item := range list {
		switch item.(type) {
		case []any, document.Mapping:
			return false
		}
	}
	return true
}

// The cost of comparing, in steps of about a nanosecond, and the memory of results, in bytes.
const (
	valueCost   = 100 // to compare two values
	entryCost   = 300 // to enter a key or an item in an index
	matchCost   = 5   // to compare an item with one of its places
	lineCost    = 60  // to compare a line
	byteCost    = 10  // to write, cut or encode a byte of a text
	bytesPerRun = 8   // of two texts that are compared within a step

	entrySize  = 128 // an entry of an index, or a pair of members
	changeSize = 512 // a change that is reported
)

// meter counts the cost of one comparison. It keeps the first error: loops end early once err is set.
type meter struct {
	spent *budget.Meter
	err   error
}

func newMeter(ctx context.Context) *meter { return &meter{spent: budget.NewMeter(ctx)} }

// charge counts steps of work.
func (m *meter) charge(steps int) {
	if err := m.spent.Spend(steps); err != nil && m.err == nil {
		m.err = err
	}
}

// hold counts bytes that are kept, or no longer are if there are less than none.
func (m *meter) hold(bytes int) {
	m.charge(max(0, bytes))
	if err := m.spent.Hold(bytes); err != nil && m.err == nil {
		m.err = err
	}
}

// end returns the error that ended a comparison.
func (m *meter) end() error {
	if err := m.spent.Check(); err != nil && m.err == nil {
		m.err = err
	}
	return m.err
}

// compareTexts counts that two texts are compared.
func (m *meter) compareTexts(before, after any) {
	if text, ok := before.(string); ok {
		m.charge(len(text) / bytesPerRun)
	}
	if text, ok := after.(string); ok {
		m.charge(len(text) / bytesPerRun)
	}
}

// maxPathBytes bounds all paths of one comparison together: thousands of changes below a key of a megabyte would fill
// gigabytes. Beyond it the two values are one change.
const maxPathBytes = 16 << 20

// appendKey appends ['key'], or ["it's"], which is all that deepdiff does about quotes.
func appendKey(path []byte, key string) []byte {
	quote := byte('\'')
	if strings.Contains(key, "'") {
		quote = '"'
	}
	path = append(path, '[', quote)
	path = append(path, key...)
	return append(path, quote, ']')
}

func appendIndex(path []byte, index int) []byte {
	return append(strconv.AppendInt(append(path, '['), int64(index), 10), ']')
}

// appendToken appends a key to a JSON pointer (RFC 6901).
func appendToken(path []byte, key string) []byte {
	path = append(path, '/')
	for i := range len(key) {
		switch key[i] {
		case '~':
			path = append(path, '~', '0')
		case '/':
			path = append(path, '~', '1')
		default:
			path = append(path, key[i])
		}
	}
	return path
}

func appendOffset(path []byte, index int) []byte {
	return strconv.AppendInt(append(path, '/'), int64(index), 10)
}

// identity is the same for scalars that are equal and of one type.
func (m *meter) identity(scalar any) any {
	if n, ok := scalar.(document.Number); ok {
		m.charge(valueCost + byteCost*len(n))
		if value := n.Decimal(); value.Exponent == int(int32(value.Exponent)) { //nolint:gosec // whether it fits
			return numeral{n.IsFloat(), value}
		} // otherwise by its text
	}
	return scalar
}

func (m *meter) identities(list []any) []any {
	m.charge(valueCost * len(list))
	all := make([]any, len(list))
	for i, item := range list {
		m.compareTexts(item, nil) // to be entered in an index
		all[i] = m.identity(item)
	}
	return all
}

// numeral is a number by its value: equal for numbers of one type that are equal, however they are written.
type numeral struct {
	isFloat bool
	document.Decimal
}
