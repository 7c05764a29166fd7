package jsonschema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
)

// enumeration is the set of values that an enum allows.
type enumeration struct {
	prints  map[string]struct{}
	longest int // length of the longest text of printer, in bytes
}

func newEnumeration(w counter, values []any) *enumeration {
	e := &enumeration{prints: make(map[string]struct{}, len(values))}
	for _, item := range values {
		text := printed(w, item, math.MaxInt)
		e.prints[text] = struct{}{}
		e.longest = max(e.longest, len(text))
	}
	return e
}

// has reports whether a value is equal to an allowed one.
func (e *enumeration) has(w counter, v any) bool {
	_, ok := e.prints[printed(w, v, e.longest)]
	return ok
}

// areUnique reports whether no two items are equal. It takes linear time.
func areUnique(w counter, items []any) bool {
	if len(items) < 2 {
		return true
	}
	seen := make(map[string]struct{}, len(items))
	for _, item := range items {
		text := printed(w, item, math.MaxInt)
		if _, ok := seen[text]; ok {
			return false
		}
		seen[text] = struct{}{}
	}
	return true
}

// printSteps is the cost of writing a value with printer.
const printSteps = 150

// printer writes values so that equal values, and no others, have the same text: numbers by value, so that 1 equals
// 1.0, and objects sorted by key. It stops after more than most bytes.
type printer struct {
	counter
	strings.Builder

	most int
}

// printed returns the text of a value, of at most about most bytes.
func printed(w counter, v any, most int) string {
	p := printer{counter: w, most: most}
	p.print(v)
	return p.String()
}

func (p *printer) print(v any) {
	if p.Len() > p.most {
		return
	}
	p.spend(p.steps(v))
	switch v := v.(type) {
	case document.Number:
		p.WriteString(numberOf(p.counter, v).String())
	case string:
		p.text(v)
	case []any:
		p.WriteByte('[')
		for _, item := range v {
			p.print(item)
			p.WriteByte(',')
		}
		p.WriteByte(']')
	case document.Mapping:
		p.members(v)
	default:
		fmt.Fprint(p, v)
	}
}

// steps returns the cost of writing v without the values in it.
func (p *printer) steps(v any) int {
	switch v := v.(type) {
	case string:
		return printSteps + min(len(v), p.most)*decodeByte
	case document.Mapping:
		return printSteps * (1 + 2*len(v))
	}
	return printSteps
}

// text writes a string. It does not read strings that are too long to be written.
func (p *printer) text(s string) {
	if len(s) > p.most {
		p.WriteString(s[:p.most+1])
		return
	}
	p.WriteString(strconv.Quote(s))
}

func (p *printer) members(m document.Mapping) {
	sorted := slices.SortedFunc(slices.Values(m), func(a, b document.Member) int { return strings.Compare(a.Key, b.Key) })
	p.WriteByte('{')
	for _, member := range sorted {
		p.print(member.Key)
		p.WriteByte(':')
		p.print(member.Value)
		p.WriteByte(',')
	}
	p.WriteByte('}')
}
