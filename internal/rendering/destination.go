package rendering

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/document/repr"
)

// destination is a place that a substitution writes to.
type destination struct {
	written   string
	path      *path
	pattern   string // the part of a text to replace; "" is all of it
	recursive bool
	depth     int // how many levels of containers are gone through; -1 is all
}

func (r *run) destination(stored document.Mapping) destination {
	d := destination{written: text(stored.At("path")), pattern: text(stored.At("pattern")), depth: -1}
	r.hold(destinationSize)
	if strings.HasPrefix(d.written, ".") || d.written == "$" || strings.HasPrefix(d.written, "$.") {
		d.path = r.path(d.written)
	} else {
		d.path = &path{broken: fmt.Errorf("the path '%s' of a destination must begin with a dot", shorten(d.written))}
	}
	if recurse := mapping(stored.At("recurse")); len(recurse) > 0 {
		d.recursive = true
		if depth, ok := recurse.At("depth").(document.Number); ok {
			d.depth, _ = strconv.Atoi(string(depth))
		}
	}
	return d
}

// destinationSize is the memory of a destination, in bytes.
const destinationSize = 96

// errPattern is the error of a pattern without any text to replace it in.
var errPattern = errors.New("no text to replace the pattern in")

// substitute is a value that a substitution read.
type substitute struct {
	value any
	place *place // in the source's data
	text  string // that stands for it in patterns, made when it is first asked for
	ready bool   // text is made
}

// writeTo writes a value to a destination. It reports whether the destination's pattern was found, if it has one.
func (r *run) writeTo(t *tree, s *substitute, d *destination) (found bool, err error) {
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
	if found, err = r.replace(t, spots[0], s, d); err != nil {
		return false, err
	}
	return found, t.spread(spots)
}

// writeRoot writes a value to the root: a mapping over the members of one, anything else as a whole (R6).
func (t *tree) writeRoot(value any, from *place) error {
	if over, ok := value.(document.Mapping); ok && isMapping(t.top.value()) {
		return t.update(t.top, over, from, t.write)
	}
	return t.write(t.top, value, from)
}

// replace replaces a pattern in the text at a spot, or in those below it, and reports whether it was found there
// (spec/rendering.md §8.9).
func (r *run) replace(t *tree, at spot, s *substitute, d *destination) (found bool, err error) {
	p, err := r.compile(d.pattern)
	if err != nil {
		return false, err
	}
	if err := r.spell(s); err != nil {
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
		t.note(textInserted, at.place, rw.from)
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
func (r *run) spell(s *substitute) error {
	if s.ready {
		return nil
	}
	size := int(r.measure(s.value).size)
	r.charge(runeCost * size)
	r.hold(size)
	if r.err != nil {
		return r.err
	}
	s.text, s.ready = plain(s.value), true
	r.hold(max(0, len(s.text)-size))
	return r.err
}

// plain formats a value as the replacement of a pattern: a string unchanged, all else as Python prints it
// (spec/rendering.md §8.9).
func plain(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	return repr.Of(value)
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
