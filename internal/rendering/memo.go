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
	mappings map[*document.Member]extent  // of large mappings
	lists    map[*any]extent              // of large lists
}

// newMemo returns an empty memo that counts its work.
func newMemo(m *meter) *memo {
	return &memo{
		meter: m, paths: map[string]*dataPath{}, patterns: map[string]*pattern{},
		lookups: map[*document.Member]*lookup{}, mappings: map[*document.Member]extent{}, lists: map[*any]extent{},
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

// reach returns the range of positions of the members that a step selects in a container.
func (memo *memo) reach(container any, s pathStep) (from, to int) {
	switch c := container.(type) {
	case document.Mapping:
		switch s.kind {
		case byKey:
			return only(memo.find(c, s.key))
		case anyKey:
			return 0, len(c)
		case byIndex, anyItem:
		}
	case *object:
		switch s.kind {
		case byKey:
			return only(memo.seek(c, s.key))
		case anyKey:
			return 0, len(c.members)
		case byIndex, anyItem:
		}
	case []any:
		return s.items(len(c))
	case *array:
		return s.items(len(c.items))
	}
	return 0, 0
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

// item returns the value at a position of an immutable container.
func item(container any, at int) any {
	if m, ok := container.(document.Mapping); ok {
		return m[at].Value
	}
	l, _ := container.([]any)
	return l[at]
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
