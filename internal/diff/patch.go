package diff

import (
	"context"
	"slices"
	"strconv"

	"purser/internal/document"
)

// Patch returns the JSON patch (RFC 6902) that makes before into after, empty if they are the same. Its operations
// apply one after another; with an operation {op, path} or {op, path, value}:
//
//	[{op: replace, path: /a/b, value: 1}, {op: remove, path: /l/4}, {op: add, path: /l/2, value: x}]
//
// Lists are worked on from their ends, so every index is the one of the list as it was.
//
// Fault: TooLarge, *budget.Exceeded.
func Patch(ctx context.Context, before, after any) ([]any, error) {
	m := newMeter(ctx)
	numbers := &numbering{meter: m, known: map[string]int{}, items: map[*any]int{}}
	p := patch{meter: m, numbers: numbers, room: maxPathBytes}
	numbers.number(before)
	numbers.number(after)
	p.compare(nil, before, after)
	if p.room < 0 {
		p = patch{meter: m, room: maxPathBytes}
		p.put("replace", nil, after)
	}
	m.hold(-numbers.size)
	return p.operations, m.end()
}

// patch collects operations.
type patch struct {
	*meter

	numbers    *numbering
	operations []any
	room       int // bytes that paths may still take
}

func (p *patch) put(op string, path []byte, value any) {
	p.operation(path, document.Mapping{{Key: "op", Value: op}, {Key: "path"}, {Key: "value", Value: value}})
}

func (p *patch) remove(path []byte) {
	p.operation(path, document.Mapping{{Key: "op", Value: "remove"}, {Key: "path"}})
}

// operation adds an operation, its path paid for.
func (p *patch) operation(path []byte, operation document.Mapping) {
	if p.room -= len(path); p.room >= 0 && p.err == nil {
		p.hold(changeSize + len(path))
		p.operations = append(p.operations, operation.With("path", string(path)))
	}
}

func (p *patch) compare(path []byte, before, after any) {
	if p.charge(valueCost); p.room < 0 || p.err != nil {
		return
	}
	switch was := before.(type) {
	case document.Mapping:
		if is, ok := after.(document.Mapping); ok {
			p.mappings(path, was, is)
			return
		}
	case []any:
		if is, ok := after.([]any); ok {
			p.lists(path, was, is)
			return
		}
	default:
		if p.compareTexts(before, after); before == after {
			return
		}
	}
	p.put("replace", path, after)
}

func (p *patch) mappings(path []byte, before, after document.Mapping) {
	for _, pair := range p.pairs(before, after) {
		p.charge(byteCost * len(pair.key))
		place := appendToken(path, pair.key)
		switch {
		case !pair.was:
			p.put("add", place, pair.after)
		case !pair.is:
			p.remove(place)
		default:
			p.compare(place, pair.before, pair.after)
		}
	}
}

func (p *patch) lists(path []byte, before, after []any) {
	for _, h := range slices.Backward(p.hunks(before, after)) {
		shared := h.shared()
		for i := h.iEnd - 1; i >= h.i+shared; i-- {
			p.remove(appendOffset(path, i))
		}
		for k := shared; h.j+k < h.jEnd; k++ {
			p.put("add", appendOffset(path, h.i+k), after[h.j+k])
		}
		for k := range shared {
			p.compare(appendOffset(path, h.i+k), before[h.i+k], after[h.j+k])
		}
	}
}

// hunks aligns two lists by the text of their items. Pairing is for scalars only: a mapping made into another takes
// more than one operation.
func (p *patch) hunks(before, after []any) []hunk {
	if areScalars(before) && areScalars(after) {
		return alignOrPair(p.meter, p.numbers.of(before), p.numbers.of(after))
	}
	return align(p.meter, p.numbers.of(before), p.numbers.of(after))
}

// numbering gives values numbers that are equal exactly if their canonical texts are.
type numbering struct {
	*meter

	known map[string]int // by the canonical text of a value whose parts are their numbers
	items map[*any]int   // of every item of a list, by where it stands
	size  int            // bytes that the two maps hold
}

func (n *numbering) number(value any) int {
	if n.err != nil {
		return 0
	}
	switch v := value.(type) {
	case []any:
		parts := make([]any, len(v))
		for i := range v {
			n.items[&v[i]] = n.number(v[i])
			n.enter(entrySize)
			parts[i] = document.Number(strconv.Itoa(n.items[&v[i]]))
		}
		value = parts
	case document.Mapping:
		parts := make(document.Mapping, len(v))
		for i, member := range v {
			parts[i] = document.Member{Key: member.Key, Value: document.Number(strconv.Itoa(n.number(member.Value)))}
		}
		value = parts
	}
	text := document.Canonical(value)
	n.charge(entryCost + byteCost*len(text))
	number, known := n.known[string(text)]
	if !known {
		n.enter(entrySize + len(text))
		number = len(n.known)
		n.known[string(text)] = number
	}
	return number
}

// of returns the numbers of a list's items.
func (n *numbering) of(list []any) []int {
	numbers := make([]int, len(list))
	for i := range list {
		numbers[i] = n.items[&list[i]]
	}
	return numbers
}

// enter counts the bytes of an entry.
func (n *numbering) enter(bytes int) {
	n.hold(bytes)
	n.size += bytes
}
