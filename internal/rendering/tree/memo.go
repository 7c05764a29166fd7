package tree

import (
	"purser/internal/document"
	"purser/internal/rendering/meter"
	"purser/internal/rendering/paths"
	"purser/internal/rendering/pattern"
)

// Memo remembers facts about immutable values that the trees of one rendering share.
type Memo struct {
	*meter.Meter

	patterns *pattern.Compiler
	lookups  map[*document.Member]*lookup // by the first member of a large mapping
	mappings map[*document.Member]extent  // of large mappings
	lists    map[*any]extent              // of large lists
}

// NewMemo returns an empty Memo that counts its work, as the compiler does.
func NewMemo(patterns *pattern.Compiler) *Memo {
	return &Memo{
		Meter:    patterns.Meter,
		patterns: patterns,
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

// find returns the position of a key in an immutable mapping, notFound if there is none. In a large one this counts as
// a search in the index, whoever searches so often that it is built.
func (memo *Memo) find(m document.Mapping, key string) (at int) {
	if len(m) <= minIndexed {
		memo.Charge(meter.Visit * len(m))
		return new(lookup).find(m, key)
	}
	memo.Charge(2*meter.Lookup + len(key)/meter.BytesPerStep)
	memo.Apart(func() {
		known := memo.lookups[&m[0]]
		if known == nil {
			known = &lookup{}
			memo.lookups[&m[0]] = known
			memo.Hold(meter.Entry)
		}
		at = memo.search(known, m, key)
	})
	return at
}

// search finds a key with a lookup, and counts the cost.
func (memo *Memo) search(l *lookup, m document.Mapping, key string) int {
	if l.at != nil {
		memo.Charge(meter.Lookup + len(key)/meter.BytesPerStep)
		return l.find(m, key)
	}
	at := l.find(m, key)
	memo.Charge(meter.Visit * len(m))
	if l.at != nil { // just built
		memo.Charge(meter.Lookup * len(m))
		memo.Hold(meter.Entry * len(m))
	}
	return at
}

// seek is find in an object of a tree.
func (memo *Memo) seek(o *object, key string) int { return memo.search(&o.lookup, o.members, key) }

// Reach returns the range of positions of the members that a step selects in a container.
func (memo *Memo) Reach(container any, s paths.Step) (from, to int) {
	switch c := container.(type) {
	case document.Mapping:
		switch s.Kind {
		case paths.ByKey:
			return only(memo.find(c, s.Key))
		case paths.AnyKey:
			return 0, len(c)
		case paths.ByIndex, paths.AnyItem:
		}
	case *object:
		switch s.Kind {
		case paths.ByKey:
			return only(memo.seek(c, s.Key))
		case paths.AnyKey:
			return 0, len(c.members)
		case paths.ByIndex, paths.AnyItem:
		}
	case []any:
		return s.Items(len(c))
	case *array:
		return s.Items(len(c.items))
	}
	return 0, 0
}

func only(at int) (from, to int) {
	if at == notFound {
		return 0, 0
	}
	return at, at + 1
}

// First returns the first value at a path, in document order, and whether there is one.
func (memo *Memo) First(value any, steps []paths.Step) (any, bool) {
	found, _, ok := memo.Locate(value, steps, nil)
	return found, ok
}

// Locate is First, and returns the place of the value too: that of the text, if it is a character of one. at is the
// place of the value that it begins with, nil if places are not noted.
func (memo *Memo) Locate(value any, steps []paths.Step, at *paths.Place) (any, *paths.Place, bool) {
	if len(steps) == 0 {
		return value, at, true
	}
	if text, ok := value.(string); ok {
		character, found := memo.character(text, steps)
		return character, at, found
	}
	from, to := memo.Reach(value, steps[0])
	memo.Charge(meter.Visit * (to - from))
	for i := from; i < to && memo.Err == nil; i++ {
		if found, there, ok := memo.Locate(Item(value, i), steps[1:], at.At(value, i)); ok {
			return found, there, true
		}
	}
	return nil, nil, false
}

// Item returns the value at a position of an immutable container.
func Item(container any, at int) any {
	if m, ok := container.(document.Mapping); ok {
		return m[at].Value
	}
	l, _ := container.([]any)
	return l[at]
}

// character reads one character of a text, as the reference does for an index.
func (memo *Memo) character(text string, steps []paths.Step) (any, bool) {
	if steps[0].Kind != paths.ByIndex {
		return nil, false
	}
	memo.Charge(meter.Rune * len(text))
	runes := []rune(text)
	from, to := steps[0].Items(len(runes))
	if from == to {
		return nil, false
	}
	return memo.First(string(runes[from]), steps[1:])
}
