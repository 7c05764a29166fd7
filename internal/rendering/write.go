package rendering

import (
	"errors"
	"fmt"

	"purser/internal/document"
)

// errPattern is the error of a pattern without any text to replace it in.
var errPattern = errors.New("no text to replace the pattern in")

// sourceValue is a value that a substitution read.
type sourceValue struct {
	value any
	place *place // in the source's data

	text  string // that replaces patterns, made when it is first needed
	ready bool   // text is made
}

// substitute writes a value to a destination. It reports whether the destination's pattern was found, if it has one.
func (t *tree) substitute(s *sourceValue, d *destination) (found bool, err error) {
	if d.path.broken != nil {
		return false, d.path.broken
	}
	if d.pattern == "" && len(d.path.steps) == 0 {
		return true, t.writeRoot(s.value, s.place)
	}
	spots, err := t.spots(d.path.steps)
	if err != nil {
		return false, err
	}
	if len(spots) == 0 {
		if d.pattern != "" && !d.recursive {
			return false, fmt.Errorf("%w: there is nothing at that path", errPattern)
		}
		created, err := t.create(d.path)
		if err != nil {
			return false, err
		}
		spots = []spot{created}
	}
	if d.pattern == "" {
		for _, at := range spots {
			t.charge(spotCost)
			if err := t.write(at, s.value, s.place); err != nil {
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
func (t *tree) writeRoot(value any, from *place) error {
	if over, ok := value.(document.Mapping); ok && isMapping(t.top.value()) {
		return t.update(t.top, over, from, t.write)
	}
	return t.write(t.top, value, from)
}

// replace replaces a pattern in the text at a spot, or in those below it, and reports whether it was found there.
func (t *tree) replace(at spot, s *sourceValue, d *destination) (found bool, err error) {
	p, err := t.compile(d.pattern)
	if err != nil {
		return false, err
	}
	if err := t.spell(s); err != nil {
		return false, err
	}
	rw := rewriting{tree: t, pattern: p, written: d.pattern, from: s.place, with: s.text, depth: d.depth}
	if isFilled(s.value) {
		rw.from = nil
	}
	switch v := at.value().(type) {
	case string:
		changed, err := rw.string(v)
		if err != nil {
			return false, err
		}
		t.note(changeInserted, at.place, rw.from)
		return rw.found, t.put(at, changed)
	case document.Mapping, []any, *object, *array:
		if d.recursive {
			changed, differs, err := rw.container(v, at.place, 0)
			if differs && err == nil {
				at.in.set(at.at, changed)
			}
			return rw.found, err
		}
	}
	return false, fmt.Errorf("%w: there is %s", errPattern, kindOf(at.value()))
}

// spell formats a substitute as text.
func (t *tree) spell(s *sourceValue) error {
	if s.ready {
		return nil
	}
	size := int(t.sizeOf(s.value))
	t.charge(runeCost * size)
	t.hold(size)
	if t.err != nil {
		return t.err
	}
	s.text, s.ready = pythonText(s.value), true
	t.hold(max(0, len(s.text)-size))
	return t.err
}

// pythonText formats a value as the replacement of a pattern: a string unchanged, all else as Python prints it.
func pythonText(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	return document.Repr(value)
}

// isFilled reports whether a value is a non-empty container.
func isFilled(value any) bool {
	switch v := value.(type) {
	case document.Mapping:
		return len(v) > 0
	case []any:
		return len(v) > 0
	}
	return false
}
