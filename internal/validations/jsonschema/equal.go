package jsonschema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

func isAllowed(v any, allowed []any) bool {
	return slices.ContainsFunc(allowed, func(each any) bool { return equal(v, each) })
}

// equal compares two values: numbers by what they are worth, so that 1 is 1.0, and objects in any order.
func equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && equalNumbers(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMembers(a, b)
	default:
		switch b.(type) {
		case []any, map[string]any: // which cannot be compared with ==
			return false
		}
		return a == b
	}
}

func equalMembers(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for key, item := range a {
		if other, ok := b[key]; !ok || !equal(item, other) {
			return false
		}
	}
	return true
}

func equalNumbers(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, _ := a.Float64()
	y, _ := b.Float64()
	return x == y && worth(a) == worth(b) // exact comparison is slow, and floats tell most numbers apart
}

// worth writes a bounded number in the one way that all of its equals share.
func worth(n json.Number) string {
	if isInteger(n) && n != "-0" {
		return string(n)
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return string(n)
	}
	return r.RatString()
}

// areUnique says whether no two items are equal. It takes time in proportion to their size whatever they are.
func areUnique(items []any) bool {
	if len(items) < 2 {
		return true
	}
	seen := make(map[string]struct{}, len(items))
	for _, item := range items {
		var b strings.Builder
		fingerprint(&b, item)
		if _, ok := seen[b.String()]; ok {
			return false
		}
		seen[b.String()] = struct{}{}
	}
	return true
}

// fingerprint writes v such that equal values, and no others, give the same text.
func fingerprint(b *strings.Builder, v any) {
	switch v := v.(type) {
	case json.Number:
		b.WriteString(worth(v))
	case string:
		b.WriteString(strconv.Quote(v))
	case []any:
		b.WriteByte('[')
		for _, item := range v {
			fingerprint(b, item)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case map[string]any:
		fingerprintMembers(b, v)
	default:
		fmt.Fprint(b, v)
	}
}

func fingerprintMembers(b *strings.Builder, members map[string]any) {
	keys := make([]string, 0, len(members))
	for key := range members {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	b.WriteByte('{')
	for _, key := range keys {
		b.WriteString(strconv.Quote(key))
		b.WriteByte(':')
		fingerprint(b, members[key])
		b.WriteByte(',')
	}
	b.WriteByte('}')
}
