package rendering

import (
	"fmt"

	"purser/internal/document"
)

// extent is how large a value is: about as many bytes as its JSON text has, how deep it is nested, and how many bytes
// are held for the part that a tree owns.
type extent struct {
	size  int64
	depth int
	held  int
}

// sizable is the smallest size of a container whose extent is remembered. It bounds the cost of measuring it again.
const sizable = 512

// measure returns the extent of a value.
func (e *engine) measure(value any) extent {
	switch v := value.(type) {
	case document.Mapping:
		if len(v) > 0 {
			return e.measureMapping(v)
		}
	case []any:
		if len(v) > 0 {
			return e.measureList(v)
		}
	case *object:
		sum := e.sumMembers(v.members)
		sum.held += v.held
		return sum
	case *array:
		sum := e.sumItems(v.items)
		sum.held += v.held
		return sum
	case string:
		return extent{size: int64(len(v)) + 2}
	case document.Number:
		return extent{size: int64(len(v))}
	default:
		return extent{size: 4}
	}
	return extent{size: 2, depth: 1}
}

func (e *engine) measureMapping(m document.Mapping) extent {
	e.charge(visitCost)
	if known, ok := e.mappings[&m[0]]; ok {
		return known
	}
	sum := e.sumMembers(m)
	if sum.size >= sizable {
		e.mappings[&m[0]] = sum
		e.remember()
	}
	return sum
}

func (e *engine) measureList(l []any) extent {
	e.charge(visitCost)
	if known, ok := e.lists[&l[0]]; ok {
		return known
	}
	sum := e.sumItems(l)
	if sum.size >= sizable {
		e.lists[&l[0]] = sum
		e.remember()
	}
	return sum
}

// remember counts an extent that is remembered.
func (e *engine) remember() {
	e.charge(lookupCost)
	e.hold(entrySize)
}

func (e *engine) sumMembers(members document.Mapping) extent {
	e.charge(visitCost * len(members))
	sum := extent{size: 2}
	for i := range members {
		if members[i].Value != (absent{}) {
			sum.add(e.measure(members[i].Value), memberText(members[i].Key))
		}
	}
	sum.depth++
	return sum
}

func (e *engine) sumItems(items []any) extent {
	e.charge(visitCost * len(items))
	sum := extent{size: 2}
	for _, item := range items {
		sum.add(e.measure(item), itemText)
	}
	sum.depth++
	return sum
}

func (x *extent) add(inner extent, around int64) {
	x.size += inner.size + around
	x.depth = max(x.depth, inner.depth)
	x.held += inner.held
}

// itemText is the comma behind an item.
const itemText = 1

// memberText counts a key with its quotes, the colon and the comma.
func memberText(key string) int64 { return int64(len(key)) + 4 }

// parse parses JSON text and returns the bytes that the value takes.
func (m *meter) parse(text []byte) (value any, size int, err error) {
	m.charge(parseCost * len(text))
	if value, err = document.ParseJSON(text); err != nil {
		return nil, 0, fmt.Errorf("parse JSON: %w", err)
	}
	size = len(text) + m.sizeOf(value)
	m.hold(size)
	return value, size, nil
}

// sizeOf returns the bytes that a value takes besides its texts.
func (m *meter) sizeOf(value any) int {
	switch v := value.(type) {
	case document.Mapping:
		m.charge(visitCost * len(v))
		size := listSize + memberSize*cap(v)
		for i := range v {
			size += m.sizeOf(v[i].Value)
		}
		return size
	case []any:
		m.charge(visitCost * len(v))
		size := listSize + wordSize*cap(v)
		for _, item := range v {
			size += m.sizeOf(item)
		}
		return size
	case string, document.Number:
		return wordSize
	}
	return 0
}
