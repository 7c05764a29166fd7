package document

import (
	"slices"
	"sync"

	plainyaml "purser/internal/document/plain"
)

// plainByteSteps is the measured cost of reading a byte of plain YAML, in the budget's steps.
const plainByteSteps = 10

// plain decodes a segment in the plain subset of YAML, without the YAML library. It returns plainyaml.ErrDeclined if
// the segment is outside that subset, is invalid or exceeds a limit, so that all faults are reported by the decoder
// that uses the library. Other errors come from the budget.
func (d *decoder) plain() (any, error) {
	size := len(d.segment.Text)
	if err := d.spend(size*plainByteSteps, size); err != nil {
		return nil, err
	}
	memory := collections.Get().(*[]collection) //nolint:forcetypeassert // the pool holds no other type
	b := &plainBuilder{decoder: d, open: (*memory)[:0]}
	defer func() {
		*memory = cleared(b.open)
		collections.Put(memory)
	}()
	err := plainyaml.Read(string(d.segment.Text), b)
	return b.root, err
}

// collections pools slices of collections for reuse. The index in a slice is the depth of the collection.
var collections = sync.Pool{New: func() any { return new([]collection) }}

// maxMembers and maxDepth bound the pooled memory: the capacity of a collection, and the number of collections.
const (
	maxMembers = 64
	maxDepth   = 32
)

// cleared clears collections for the pool and drops those that are too large for it.
func cleared(open []collection) []collection {
	open = open[:cap(open)]
	clear(open[min(len(open), maxDepth):])
	open = open[:min(len(open), maxDepth)]
	for i, c := range open {
		open[i] = collection{}
		if cap(c.list) <= maxMembers {
			open[i].list = c.list[:0]
			clear(c.list[:cap(c.list)])
		}
		if cap(c.mapping.members) <= maxMembers {
			open[i].mapping = mappingBuilder{members: c.mapping.members[:0], places: c.mapping.places[:0]}
			clear(c.mapping.members[:cap(c.mapping.members)])
		}
	}
	return open[:0]
}

// plainBuilder builds a value from the events of package plain.
type plainBuilder struct {
	*decoder

	root any
	open []collection // the innermost is last
}

// collection is a mapping or list that has not ended yet.
type collection struct {
	isList  bool
	list    []any
	mapping mappingBuilder
	key     string // the key of the next value
	place   int    // 1 more than its offset
}

// next counts a value against the limits and the budget.
func (b *plainBuilder) next(bytes int) error {
	if b.exceeds(bytes, len(b.open)+1) != nil {
		return plainyaml.ErrDeclined
	}
	return b.spend(valueSteps, valueBytes)
}

// Mapping implements plainyaml.Handler.
func (b *plainBuilder) Mapping() error { return b.begin(false) }

// Sequence implements plainyaml.Handler.
func (b *plainBuilder) Sequence() error { return b.begin(true) }

// begin begins a collection. It reuses the memory of the previous one at the same depth.
func (b *plainBuilder) begin(isList bool) error {
	err := b.next(0)
	depth := len(b.open)
	b.open = slices.Grow(b.open, 1)[:depth+1]
	last := &b.open[depth]
	last.isList, last.list = isList, last.list[:0]
	last.mapping = mappingBuilder{members: last.mapping.members[:0], places: last.mapping.places[:0]}
	return err
}

// End implements plainyaml.Handler.
func (b *plainBuilder) End() error {
	last := &b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	if last.isList {
		return b.add(append(make([]any, 0, len(last.list)), last.list...))
	}
	return b.add(append(make(Mapping, 0, len(last.mapping.members)), last.mapping.members...))
}

// Key implements plainyaml.Handler.
func (b *plainBuilder) Key(text string, quoted bool, offset int) error {
	last := &b.open[len(b.open)-1]
	last.key, last.place = text, offset+1
	if quoted || isString(text) || text == valueKey {
		return b.next(len(text))
	}
	value, err := b.resolve(text)
	if err != nil {
		return err
	}
	key, ok := keyOf(value)
	if !ok {
		return plainyaml.ErrDeclined
	}
	last.key = key
	return nil
}

// Scalar implements plainyaml.Handler.
func (b *plainBuilder) Scalar(text string, quoted bool) error {
	if quoted {
		if err := b.next(len(text)); err != nil {
			return err
		}
		return b.add(text)
	}
	value, err := b.resolve(text)
	if err != nil {
		return err
	}
	return b.add(value)
}

// resolve counts a plain scalar and returns its value.
func (b *plainBuilder) resolve(text string) (any, error) {
	if err := b.next(len(text)); err != nil {
		return nil, err
	}
	value, wrong := resolvePlain(text)
	if wrong != "" {
		return nil, plainyaml.ErrDeclined
	}
	return value, b.spendNumber(text)
}

// add adds a value to the innermost collection.
func (b *plainBuilder) add(value any) error {
	if len(b.open) == 0 {
		b.root = value
		return nil
	}
	last := &b.open[len(b.open)-1]
	if last.isList {
		last.list = append(last.list, value)
		return nil
	}
	first := last.mapping.set(last.key, value, last.place)
	switch {
	case first == 0:
	case len(b.open) == 1:
		return plainyaml.ErrDeclined // a fault
	default:
		at := func(place int) Position { return positionIn(b.segment.Text, place-1) }
		second := last.place
		b.noteDuplicate(last.key, len(b.open), func() (Position, Position) { return at(first), at(second) })
	}
	return nil
}
