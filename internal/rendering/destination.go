package rendering

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"purser/internal/document"
)

// destination is where a substitution writes.
type destination struct {
	written   string
	path      *path
	pattern   string // what of a text is replaced; "" is all
	recursive bool
	depth     int // how many levels of containers are gone through; -1 is all
}

func (r *run) destination(stored document.Mapping) destination {
	d := destination{written: text(stored.At("path")), pattern: text(stored.At("pattern")), depth: -1}
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

// errPattern says that there is no text in which a pattern could be replaced.
var errPattern = errors.New("no text to replace the pattern in")

// said is a value with the text that stands for it in patterns, which is made when it is first asked for.
type said struct {
	value any
	text  string
	done  bool
}

// bring writes a value to a destination.
func (r *run) bring(t *tree, s *said, d *destination) error {
	if d.path.broken != nil {
		return d.path.broken
	}
	if d.pattern == "" && len(d.path.steps) == 0 {
		return t.update(t.passed(s.value))
	}
	spots := t.spots(d.path.steps)
	if len(spots) == 0 {
		if d.pattern != "" && !d.recursive {
			return fmt.Errorf("%w: there is nothing at that path", errPattern)
		}
		created, err := t.create(d.path)
		if err != nil {
			return err
		}
		spots = []spot{created}
	}
	if d.pattern == "" {
		value := t.passed(s.value)
		for _, at := range spots {
			if err := t.put(at, value); err != nil {
				return err
			}
		}
		return nil
	}
	if err := r.replace(t, spots[0], s, d); err != nil {
		return err
	}
	return t.spread(spots)
}

// update writes a value to the root: a mapping over the members of one, anything else as a whole (R6).
func (t *tree) update(value any) error {
	over, ok := bare(value).(document.Mapping)
	if !ok || !isMapping(t.top().value()) {
		return t.put(t.top(), value)
	}
	o, _ := t.own(t.top()).(*object)
	for i := range over {
		at := t.seek(o, over[i].Key)
		var err error
		if at == notThere {
			_, err = t.add(o, over[i].Key, over[i].Value, 1)
		} else {
			err = t.put(spot{o, at, 1}, over[i].Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replace replaces a pattern in the text at a spot, or in those below it (spec/rendering.md §8.9).
func (r *run) replace(t *tree, at spot, s *said, d *destination) error {
	p, err := r.compile(d.pattern)
	if err != nil {
		return err
	}
	if !s.done {
		r.charge(int(r.measure(s.value).size))
		s.text, s.done = plain(s.value), true
	}
	rw := rewriting{tree: t, pattern: p, written: d.pattern, value: s.value, with: s.text, depth: d.depth}
	switch v := bare(at.value()).(type) {
	case string:
		changed, err := rw.string(v)
		if err != nil {
			return err
		}
		return t.put(at, t.inserted(at.value(), changed, s.value))
	case document.Mapping, []any, *object, *array:
		if d.recursive {
			changed, differs, err := rw.container(v, 0)
			if differs && err == nil {
				at.in.set(at.at, changed)
			}
			return err
		}
	}
	return fmt.Errorf("%w: there is %s", errPattern, kindOf(at.value()))
}
