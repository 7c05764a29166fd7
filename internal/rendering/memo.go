package rendering

import (
	"purser/internal/document"
)

// memo remembers facts about immutable values that the trees of one rendering share.
type memo struct {
	*meter

	paths    map[string]*dataPath
	patterns map[string]*pattern
	lookups  map[*document.Member]*lookup // by the first member of a large mapping
	extents  map[any]extent               // of large mappings and lists, by the pointer to the first member or item
}

// newMemo returns an empty memo that counts its work.
func newMemo(m *meter) *memo {
	return &memo{
		meter: m, paths: map[string]*dataPath{}, patterns: map[string]*pattern{},
		lookups: map[*document.Member]*lookup{}, extents: map[any]extent{},
	}
}

// lookup finds keys of one mapping. It searches from front to back, until that has been done so often that an index
// would have paid.
type lookup struct {
	searched int
	at       map[string]int
}

const (
	minIndexed      = 16 // members; smaller mappings are never indexed
	minSearches     = 16 // before an index is built
	notFound    int = -1
)

func (l *lookup) find(members document.Mapping, key string) int {
	if len(members) > minIndexed && l.at == nil {
		if l.searched++; l.searched > minSearches {
			l.build(members)
		}
	}
	if l.at != nil {
		if at, found := l.at[key]; found {
			return at
		}
		return notFound
	}
	for at := range members {
		if members[at].Key == key && members[at].Value != (absent{}) {
			return at
		}
	}
	return notFound
}

func (l *lookup) build(members document.Mapping) {
	l.at = make(map[string]int, len(members))
	for at := range members {
		if members[at].Value != (absent{}) {
			l.at[members[at].Key] = at
		}
	}
}

// find returns the position of a key in an immutable mapping, notFound if there is none. In a large one this counts as
// a search in the index, no matter which search builds it.
func (memo *memo) find(m document.Mapping, key string) (at int) {
	if len(m) <= minIndexed {
		memo.charge(visitCost * len(m))
		return new(lookup).find(m, key)
	}
	memo.charge(2*lookupCost + len(key)/bytesPerStep)
	memo.apart(func() {
		known := memo.lookups[&m[0]]
		if known == nil {
			known = &lookup{}
			memo.lookups[&m[0]] = known
			memo.hold(entrySize)
		}
		at = memo.search(known, m, key)
	})
	return at
}

// search finds a key with a lookup, and counts the cost.
func (memo *memo) search(l *lookup, m document.Mapping, key string) int {
	if l.at != nil {
		memo.charge(lookupCost + len(key)/bytesPerStep)
		return l.find(m, key)
	}
	at := l.find(m, key)
	memo.charge(visitCost * len(m))
	if l.at != nil { // just built
		memo.charge(lookupCost * len(m))
		memo.hold(entrySize * len(m))
	}
	return at
}

// seek is find in an object of a tree.
func (memo *memo) seek(o *object, key string) int { return memo.search(&o.lookup, o.members, key) }

// reach returns the range of positions of the members or items that a step selects in a container.
func (memo *memo) reach(container any, s pathStep) (from, to int) {
	members, items := contents(container)
	switch {
	case members == nil:
		return s.items(len(items))
	case s.kind == anyKey:
		return 0, len(members)
	case s.kind != byKey:
		return 0, 0
	}
	if o, ok := container.(*object); ok {
		return only(memo.seek(o, s.key))
	}
	return only(memo.find(members, s.key))
}

func only(at int) (from, to int) {
	if at == notFound {
		return 0, 0
	}
	return at, at + 1
}

// first returns the first value at a path, in document order, and whether there is one.
func (memo *memo) first(value any, steps []pathStep) (any, bool) {
	found, _, ok := memo.locate(value, steps, nil)
	return found, ok
}

// locate is first, and returns the place of the value too: that of the text, if it is a character of one. at is the
// place of the value that it begins with, nil if places are not noted.
func (memo *memo) locate(value any, steps []pathStep, at *place) (any, *place, bool) {
	if len(steps) == 0 {
		return value, at, true
	}
	if text, ok := value.(string); ok {
		character, found := memo.character(text, steps)
		return character, at, found
	}
	from, to := memo.reach(value, steps[0])
	memo.charge(visitCost * (to - from))
	for i := from; i < to && memo.err == nil; i++ {
		if found, there, ok := memo.locate(item(value, i), steps[1:], at.at(value, i)); ok {
			return found, there, true
		}
	}
	return nil, nil, false
}

// character reads one character of a text, as Deckhand does for an index.
func (memo *memo) character(text string, steps []pathStep) (any, bool) {
	if steps[0].kind != byIndex {
		return nil, false
	}
	memo.charge(runeCost * len(text))
	runes := []rune(text)
	from, to := steps[0].items(len(runes))
	if from == to {
		return nil, false
	}
	return memo.first(string(runes[from]), steps[1:])
}

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
			return memo.measureOnce(&v[0], value)
		}
	case []any:
		if len(v) > 0 {
			return memo.measureOnce(&v[0], value)
		}
	case *object:
		return memo.sum(value, v.held)
	case *array:
		return memo.sum(value, v.held)
	case string:
		return extent{size: int64(len(v)) + 2}
	case document.Number:
		return extent{size: int64(len(v))}
	default:
		return extent{size: 4}
	}
	return extent{size: 2, depth: 1}
}

// measureOnce returns the extent of an immutable container, and remembers it by the pointer to the first member or item
// if it is large.
func (memo *memo) measureOnce(first, container any) extent {
	memo.charge(visitCost)
	if known, ok := memo.extents[first]; ok {
		return known
	}
	sum := memo.sum(container, 0)
	if sum.size >= sizable {
		memo.extents[first] = sum
		memo.charge(lookupCost)
		memo.hold(entrySize)
	}
	return sum
}

// sum returns the extent of a container that takes so many bytes besides its contents.
func (memo *memo) sum(container any, held int) extent {
	members, items := contents(container)
	memo.charge(visitCost * (len(members) + len(items)))
	sum := extent{size: 2, held: held}
	for i := range members {
		if members[i].Value != (absent{}) {
			sum.add(memo.measure(members[i].Value), memberText(members[i].Key))
		}
	}
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
