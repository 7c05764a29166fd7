package rendering

import (
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

// sizeOf returns about as many bytes as the JSON text of a value has.
func (memo *memo) sizeOf(value any) int64 { return memo.measure(value).size }

// measure returns the extent of a value.
func (memo *memo) measure(value any) extent {
	switch v := value.(type) {
	case document.Mapping:
		if len(v) > 0 {
			return memo.measureMapping(v)
		}
	case []any:
		if len(v) > 0 {
			return memo.measureList(v)
		}
	case *object:
		sum := memo.sumMembers(v.members)
		sum.held += v.held
		return sum
	case *array:
		sum := memo.sumItems(v.items)
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

func (memo *memo) measureMapping(m document.Mapping) extent {
	memo.charge(visitCost)
	if known, ok := memo.mappings[&m[0]]; ok {
		return known
	}
	sum := memo.sumMembers(m)
	if sum.size >= sizable {
		memo.mappings[&m[0]] = sum
		memo.remember()
	}
	return sum
}

func (memo *memo) measureList(l []any) extent {
	memo.charge(visitCost)
	if known, ok := memo.lists[&l[0]]; ok {
		return known
	}
	sum := memo.sumItems(l)
	if sum.size >= sizable {
		memo.lists[&l[0]] = sum
		memo.remember()
	}
	return sum
}

// remember counts an extent that is remembered.
func (memo *memo) remember() {
	memo.charge(lookupCost)
	memo.hold(entrySize)
}

func (memo *memo) sumMembers(members document.Mapping) extent {
	memo.charge(visitCost * len(members))
	sum := extent{size: 2}
	for i := range members {
		if members[i].Value != (absent{}) {
			sum.add(memo.measure(members[i].Value), memberText(members[i].Key))
		}
	}
	sum.depth++
	return sum
}

func (memo *memo) sumItems(items []any) extent {
	memo.charge(visitCost * len(items))
	sum := extent{size: 2}
	for _, item := range items {
		sum.add(memo.measure(item), itemText)
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
