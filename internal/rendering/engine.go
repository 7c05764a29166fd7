package rendering

import "purser/internal/document"

// engine is the state shared by the documents of one rendering: the meter, and cached facts about texts and values.
type engine struct {
	*meter

	paths    map[string]*path
	patterns map[string]*pattern
	lookups  map[*document.Member]*lookup // by the first member of a large mapping
	mappings map[*document.Member]extent  // of large mappings
	lists    map[*any]extent              // of large lists
}

func newEngine(m *meter) *engine {
	return &engine{
		meter:    m,
		paths:    map[string]*path{},
		patterns: map[string]*pattern{},
		lookups:  map[*document.Member]*lookup{},
		mappings: map[*document.Member]extent{},
		lists:    map[*any]extent{},
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

// find returns the position of a key in an immutable mapping, notFound if there is none.
func (e *engine) find(m document.Mapping, key string) int {
	if len(m) <= minIndexed {
		e.charge(visitCost * len(m))
		return new(lookup).find(m, key)
	}
	known := e.lookups[&m[0]]
	e.charge(lookupCost)
	if known == nil {
		known = &lookup{}
		e.lookups[&m[0]] = known
		e.hold(entrySize)
	}
	return e.search(known, m, key)
}

// search finds a key with a lookup, and counts the cost.
func (e *engine) search(l *lookup, m document.Mapping, key string) int {
	if l.at != nil {
		e.charge(lookupCost + len(key)/bytesPerRun)
		return l.find(m, key)
	}
	at := l.find(m, key)
	e.charge(visitCost * len(m))
	if l.at != nil { // just built
		e.charge(lookupCost * len(m))
		e.hold(entrySize * len(m))
	}
	return at
}

// seek is find in an object of a tree.
func (e *engine) seek(o *object, key string) int { return e.search(&o.lookup, o.members, key) }

// reach returns the range of positions of the members that a step selects in a container.
func (e *engine) reach(container any, s step) (from, to int) {
	switch c := container.(type) {
	case document.Mapping:
		switch s.kind {
		case byKey:
			return only(e.find(c, s.key))
		case anyKey:
			return 0, len(c)
		case byIndex, anyItem:
		}
	case *object:
		switch s.kind {
		case byKey:
			return only(e.seek(c, s.key))
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

// items returns the range of list items that a step selects. Negative indices count from the end.
func (s step) items(length int) (from, to int) {
	switch s.kind {
	case byIndex:
		at := s.index
		if at < 0 {
			at += length
		}
		if at >= 0 && at < length {
			return only(at)
		}
	case anyItem:
		return 0, length
	case byKey, anyKey:
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
func (e *engine) first(value any, steps []step) (any, bool) {
	found, _, ok := e.locate(value, steps, nil)
	return found, ok
}

// locate is first, and returns the place of the value too: that of the text, if it is a character of one. at is the
// place of the value that it begins with, nil if places are not noted.
func (e *engine) locate(value any, steps []step, at *place) (any, *place, bool) {
	if len(steps) == 0 {
		return value, at, true
	}
	if text, ok := value.(string); ok {
		character, found := e.character(text, steps)
		return character, at, found
	}
	from, to := e.reach(value, steps[0])
	e.charge(visitCost * (to - from))
	for i := from; i < to && e.err == nil; i++ {
		if found, there, ok := e.locate(item(value, i), steps[1:], at.item(value, i)); ok {
			return found, there, true
		}
	}
	return nil, nil, false
}

// item is the value at a position of an immutable container.
func item(container any, at int) any {
	if m, ok := container.(document.Mapping); ok {
		return m[at].Value
	}
	return list(container)[at]
}

// character reads one character of a text, as the reference does for an index (spec/rendering.md §8.6).
func (e *engine) character(text string, steps []step) (any, bool) {
	if steps[0].kind != byIndex {
		return nil, false
	}
	e.charge(runeCost * len(text))
	runes := []rune(text)
	from, to := steps[0].items(len(runes))
	if from == to {
		return nil, false
	}
	return e.first(string(runes[from]), steps[1:])
}
