package jsonschema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
)

// enumeration is the values that an enum allows.
type enumeration struct {
	prints  map[string]struct{}
	longest int // bytes of the longest print
}

func newEnumeration(w work, values []any) *enumeration {
	e := &enumeration{prints: make(map[string]struct{}, len(values))}
	for _, item := range values {
		p := printer{work: w, most: math.MaxInt}
		p.print(item)
		e.prints[p.String()] = struct{}{}
		e.longest = max(e.longest, p.Len())
	}
	return e
}

// has reports whether a value equals one that is allowed.
func (e *enumeration) has(w work, v any) bool {
	p := printer{work: w, most: e.longest}
	p.print(v)
	_, ok := e.prints[p.String()]
	return ok
}

// areUnique reports whether no two items are equal. It takes linear time.
func areUnique(w work, items []any) bool {
	if len(items) < 2 {
		return true
	}
	seen := make(map[string]struct{}, len(items))
	for _, item := range items {
		p := printer{work: w, most: math.MaxInt}
		p.print(item)
		if _, ok := seen[p.String()]; ok {
			return false
		}
		seen[p.String()] = struct{}{}
	}
	return true
}

// printer writes a value such that equal values, and no others, give the same text: numbers by their value, so that 1
// is 1.0, and objects in the order of their keys. It writes no more once it has written more than most bytes.
type printer struct {
	work
	strings.Builder

	most int
}

func (p *printer) print(v any) {
	if p.Len() > p.most {
		return
	}
	p.spend(p.steps(v))
	switch v := v.(type) {
	case document.Number:
		p.WriteString(exact(v))
	case string:
		p.text(v)
	case []any:
		p.WriteByte('[')
		for _, item := range v {
			p.print(item)
			p.WriteByte(',')
		}
		p.WriteByte(']')
	case mapping:
		p.members(v)
	default:
		fmt.Fprint(p, v)
	}
}

// steps is the cost of writing v without the values in it.
func (p *printer) steps(v any) int {
	switch v := v.(type) {
	case string:
		return printSteps + min(len(v), p.most)*decodeByte
	case document.Number:
		switch {
		case isInteger(v):
		case strings.ContainsAny(string(v), "eE"):
			return printPower
		default:
			return 4 * numberSteps
		}
	case mapping:
		return printSteps * (1 + 2*len(v))
	}
	return printSteps
}

// text writes a text, which is not looked at if it is too long to be written.
func (p *printer) text(s string) {
	if len(s) > p.most {
		p.WriteString(s[:p.most+1])
		return
	}
	p.WriteString(strconv.Quote(s))
}

func (p *printer) members(m mapping) {
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

// exact writes a number in the one way that all of its equals share.
func exact(n document.Number) string {
	n = bounded(n)
	if isInteger(n) && n != "-0" {
		return string(n)
	}
	return rational(n).RatString()
}
