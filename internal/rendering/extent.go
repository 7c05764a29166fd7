package rendering

import "purser/internal/document"

// extent is how large a value is: about as many bytes as its JSON text has, and how deep it is nested.
type extent struct {
	size  int64
	depth int
}

// sizable is from what size on the extent of a container is remembered. It bounds what measuring it again costs.
const sizable = 512

// measure tells the extent of a value.
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
		return e.sumMembers(v.members)
	case *array:
		return e.sumItems(v.items)
	case string:
		return extent{size: int64(len(v)) + 2}
	case document.Number:
		return extent{size: int64(len(v))}
	case *traced:
		x := e.measure(v.value)
		x.size += tracedSize
		return x
	default:
		return extent{size: 4}
	}
	return extent{size: 2, depth: 1}
}

func (e *engine) measureMapping(m document.Mapping) extent {
	if known, ok := e.mappings[&m[0]]; ok {
		return known
	}
	sum := e.sumMembers(m)
	if sum.size >= sizable {
		e.mappings[&m[0]] = sum
	}
	return sum
}

func (e *engine) measureList(l []any) extent {
	if known, ok := e.lists[&l[0]]; ok {
		return known
	}
	sum := e.sumItems(l)
	if sum.size >= sizable {
		e.lists[&l[0]] = sum
	}
	return sum
}

func (e *engine) sumMembers(members document.Mapping) extent {
	e.charge(len(members))
	sum := extent{size: 2}
	for i := range members {
		if members[i].Value != (removed{}) {
			sum.add(e.measure(members[i].Value), memberSize(members[i].Key))
		}
	}
	sum.depth++
	return sum
}

func (e *engine) sumItems(items []any) extent {
	e.charge(len(items))
	sum := extent{size: 2}
	for _, item := range items {
		sum.add(e.measure(item), itemSize)
	}
	sum.depth++
	return sum
}

func (x *extent) add(inner extent, around int64) {
	x.size += inner.size + around
	x.depth = max(x.depth, inner.depth)
}

// tracedSize is what it takes to know where a leaf comes from.
const tracedSize = 32

// itemSize is the comma behind an item.
const itemSize = 1

// memberSize counts a key with its quotes, the colon and the comma.
func memberSize(key string) int64 { return int64(len(key)) + 4 }
