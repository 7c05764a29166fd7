package tree

import (
	"errors"
	"fmt"

	"purser/internal/document"
	"purser/internal/document/repr"
	"purser/internal/rendering/declared"
	"purser/internal/rendering/history"
	"purser/internal/rendering/meter"
	"purser/internal/rendering/paths"
)

// ErrPattern is the error of a pattern without any text to replace it in.
var ErrPattern = errors.New("no text to replace the pattern in")

// Substitute is a value that a substitution read.
type Substitute struct {
	Value any
	Place *paths.Place // in the source's data

	text  string // that replaces patterns, made when it is first needed
	ready bool   // text is made
}

// Write writes a value to a destination. It reports whether the destination's pattern was found, if it has one.
func (t *Tree) Write(s *Substitute, d *declared.Destination) (found bool, err error) {
	if d.Path.Broken != nil {
		return false, d.Path.Broken
	}
	if d.Pattern == "" && len(d.Path.Steps) == 0 {
		return true, t.writeRoot(s.Value, s.Place)
	}
	spots, err := t.spots(d.Path.Steps)
	if err != nil {
		return false, err
	}
	if len(spots) == 0 {
		if d.Pattern != "" && !d.Recursive {
			return false, fmt.Errorf("%w: there is nothing at that path", ErrPattern)
		}
		created, err := t.create(d.Path)
		if err != nil {
			return false, err
		}
		spots = []spot{created}
	}
	if d.Pattern == "" {
		for _, at := range spots {
			t.Charge(spotCost)
			if err := t.write(at, s.Value, s.Place); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	if found, err = t.replace(spots[0], s, d); err != nil {
		return false, err
	}
	return found, t.spread(spots)
}

// writeRoot writes a value to the root: a mapping over the members of one, anything else as a whole.
func (t *Tree) writeRoot(value any, from *paths.Place) error {
	if over, ok := value.(document.Mapping); ok && isMapping(t.top.value()) {
		return t.update(t.top, over, from, t.write)
	}
	return t.write(t.top, value, from)
}

// replace replaces a pattern in the text at a spot, or in those below it, and reports whether it was found there.
func (t *Tree) replace(at spot, s *Substitute, d *declared.Destination) (found bool, err error) {
	p, err := t.patterns.Compile(d.Pattern)
	if err != nil {
		return false, err
	}
	if err := t.spell(s); err != nil {
		return false, err
	}
	rw := rewriting{Tree: t, pattern: p, written: d.Pattern, from: s.Place, with: s.text, depth: d.Depth}
	if IsFilled(s.Value) {
		rw.from = nil
	}
	switch v := at.value().(type) {
	case string:
		changed, err := rw.string(v)
		if err != nil {
			return false, err
		}
		t.note(history.Inserted, at.place, rw.from)
		return rw.found, t.put(at, changed)
	case document.Mapping, []any, *object, *array:
		if d.Recursive {
			changed, differs, err := rw.container(v, at.place, 0)
			if differs && err == nil {
				at.in.set(at.at, changed)
			}
			return rw.found, err
		}
	}
	return false, fmt.Errorf("%w: there is %s", ErrPattern, KindOf(at.value()))
}

// spell formats a substitute as text.
func (t *Tree) spell(s *Substitute) error {
	if s.ready {
		return nil
	}
	size := int(t.SizeOf(s.Value))
	t.Charge(meter.Rune * size)
	t.Hold(size)
	if t.Err != nil {
		return t.Err
	}
	s.text, s.ready = plain(s.Value), true
	t.Hold(max(0, len(s.text)-size))
	return t.Err
}

// plain formats a value as the replacement of a pattern: a string unchanged, all else as Python prints it.
func plain(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	return repr.Of(value)
}

// IsFilled reports whether a value is a non-empty container.
func IsFilled(value any) bool {
	switch v := value.(type) {
	case document.Mapping:
		return len(v) > 0
	case []any:
		return len(v) > 0
	}
	return false
}
