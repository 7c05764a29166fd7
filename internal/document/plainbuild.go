package document

import (
	"slices"
	"sync"
)

// collection is a mapping or list that has not ended yet.
type collection struct {
	isList  bool
	list    []any
	mapping mappingBuilder
	key     string // the key of the next value
	place   int    // 1 more than its offset
}

// collections pools slices of collections for reuse. The index in a slice is the depth of the collection.
var collections = sync.Pool{New: func() any { return new([]collection) }}

// pooledMembers and pooledDepth bound the pooled memory: the capacity of a collection, and the number of collections.
const (
	pooledMembers = 64
	pooledDepth   = 32
)

// cleared clears collections for the pool and drops those that are too large for it.
func cleared(open []collection) []collection {
	open = open[:cap(open)]
	clear(open[min(len(open), pooledDepth):])
	open = open[:min(len(open), pooledDepth)]
	for i, c := range open {
		open[i] = collection{}
		if cap(c.list) <= pooledMembers {
			open[i].list = c.list[:0]
			clear(c.list[:cap(c.list)])
		}
		if cap(c.mapping.members) <= pooledMembers {
			open[i].mapping = mappingBuilder{members: c.mapping.members[:0], places: c.mapping.places[:0]}
			clear(c.mapping.members[:cap(c.mapping.members)])
		}
	}
	return open[:0]
}

// next counts a value against the limits and the budget.
func (r *plainReader) next(bytes int) {
	r.must(r.exceeds(bytes, len(r.open)+1) == nil)
	r.charge(r.spend(valueSteps, valueBytes))
}

// begin begins a collection. It reuses the memory of the previous one at the same depth.
func (r *plainReader) begin(isList bool) {
	depth := len(r.open)
	r.must(depth < maxLevels)
	r.next(0)
	r.open = slices.Grow(r.open, 1)[:depth+1]
	last := &r.open[depth]
	last.isList, last.list = isList, last.list[:0]
	last.mapping = mappingBuilder{members: last.mapping.members[:0], places: last.mapping.places[:0]}
}

// end ends the innermost collection.
func (r *plainReader) end() {
	last := &r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	if last.isList {
		r.add(append(make([]any, 0, len(last.list)), last.list...))
		return
	}
	r.add(append(make(Mapping, 0, len(last.mapping.members)), last.mapping.members...))
}

// setKey sets the key of the next value in the innermost mapping. offset is that of the key.
func (r *plainReader) setKey(text string, quoted bool, offset int) {
	key := text
	if quoted || isString(text) || text == valueKey {
		r.next(len(text))
	} else {
		var ok bool
		key, ok = keyOf(r.resolve(text))
		r.must(ok)
	}
	last := &r.open[len(r.open)-1]
	last.key, last.place = key, offset+1
}

// scalar adds a scalar. quoted is false if the text determines its type. A node without text is an empty unquoted
// scalar.
func (r *plainReader) scalar(text string, quoted bool) {
	if !quoted {
		r.add(r.resolve(text))
		return
	}
	r.next(len(text))
	r.add(text)
}

// resolve counts an unquoted scalar and returns its value.
func (r *plainReader) resolve(text string) any {
	r.next(len(text))
	value, wrong := resolvePlain(text)
	r.must(wrong == "")
	r.charge(r.spendNumber(text))
	return value
}

// add adds a value to the innermost collection.
func (r *plainReader) add(value any) {
	depth := len(r.open)
	if depth == 0 {
		r.root = value
		return
	}
	last := &r.open[depth-1]
	if last.isList {
		last.list = append(last.list, value)
		return
	}
	if first := last.mapping.set(last.key, value, last.place); first != 0 {
		r.must(depth > 1) // else it is a fault
		at := func(place int) Position { return positionIn(r.segment.Text, place-1) }
		second := last.place
		r.noteDuplicate(last.key, depth, func() (Position, Position) { return at(first), at(second) })
	}
}
