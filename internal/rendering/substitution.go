package rendering

import (
	"errors"
	"fmt"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

// substitute applies one of a document's substitutions to its tree, which is useless after a fault.
func (r *run) substitute(t *tree, n *node, number int) error {
	s := &n.substitutions[number]
	source := r.source(n, number)
	if source == nil {
		return &refusal{stage: finding, number: number}
	}
	value, err := r.read(source, n, number)
	if err != nil {
		return err
	}
	found := true
	if s.pattern != "" {
		value.value, found, err = r.part(value.value, s)
	}
	switch ended := r.ended(n, err, ", substitution %d", number+1); {
	case ended != nil:
		return ended
	case err != nil:
		return &refusal{stage: taking, number: number, cause: err}
	case len(n.refusals) > 0:
		return nil
	case !found:
		r.noteWarning(n, warning{number, ofSource})
	}
	return r.write(t, &value, n, source, number)
}

// write writes a value to the destinations of a substitution.
func (r *run) write(t *tree, value *sourceValue, n, source *node, number int) error {
	s := &n.substitutions[number]
	for i := range s.destinations {
		r.charge(changeCost)
		t.begin(event{number: number, source: source, destination: i})
		found, err := t.substitute(value, &s.destinations[i])
		ended := r.ended(n, err, ", substitution %d to %s", number+1, words.Excerpt(s.destinations[i].written))
		switch {
		case ended != nil:
			return ended
		case err != nil:
			return &refusal{stage: replacing, number: number, destination: i, cause: err}
		case !found:
			r.noteWarning(n, warning{number, i})
		}
	}
	if source.secret || r.options.Compat {
		for _, d := range s.destinations {
			n.destinations = r.appendPlace(n.destinations, d.path)
		}
	}
	return nil
}

// read returns the value at a path of a source that is a mapping, or the whole source if it is not.
func (r *run) read(source, n *node, number int) (found sourceValue, err error) {
	s := &n.substitutions[number]
	if found.value, err = r.value(source); err != nil {
		return found, err
	}
	if source.history != nil {
		found.place = &place{}
	}
	if _, isMapping := found.value.(document.Mapping); isMapping {
		found.value, found.place, _ = r.locate(found.value, s.path.steps, found.place)
		if err = s.path.broken; err != nil {
			found.value = nil
		}
	}
	if r.err != nil {
		return found, r.stopped(n, fmt.Sprintf(", substitution from %s of %s", words.Excerpt(s.written), source.Identity))
	}
	if found.value == nil {
		return found, &refusal{stage: reading, number: number, cause: err}
	}
	return found, nil
}

// noData is the fault of a substitution that finds nothing in its source; the cause is that of a broken path.
func (r *run) noData(n, source *node, number int, cause error) *fault.Fault {
	details := ""
	if cause != nil {
		details = ". Details: " + cause.Error()
	}
	return r.atPath(substitutionPath(number)+".src", invalid("SubstitutionSourceDataNotFound", []*node{n, source},
		"Required substitution source secret was not found at path %s in source document %s which is referenced by "+
			"destination document %s under its `metadata.substitutions`%s",
		words.Excerpt(n.substitutions[number].written), source.Identity, n.Identity, details))
}

// part returns the part of a text that matches the source's pattern, or all of it if nothing matches.
func (r *run) part(value any, s *substitution) (part any, found bool, err error) {
	whole, ok := value.(string)
	if !ok {
		return nil, false, fmt.Errorf("src.pattern needs a string, but at %s there is %s", words.Excerpt(s.written),
			kindOf(value))
	}
	p, err := r.compile(s.pattern)
	if err != nil {
		return nil, false, err
	}
	return p.group(r.meter, whole, s.group)
}

// destinationFault is the fault of a substitution that cannot be written.
func (r *run) destinationFault(n, source *node, number, destination int, cause error) *fault.Fault {
	if !errors.Is(cause, errPattern) {
		return r.substitutionFault(n, source, number, cause)
	}
	d := &n.substitutions[number].destinations[destination]
	return r.atPath(substitutionPath(number)+".dest", invalid("MissingDocumentPattern", []*node{n, source},
		"The destination document's `data` section is missing the pattern %s specified under "+
			"`substitutions.dest.pattern` at path %s, specified under `substitutions.dest.path`. Details: %w; the "+
			"destination document is %s", words.Excerpt(d.pattern), words.Excerpt(d.written), cause, n.Identity))
}

// substitutionFault is the fault of all failures without a separate class. Deckhand hides their causes.
func (r *run) substitutionFault(n, source *node, number int, cause error) *fault.Fault {
	if limit := limitFault(n, cause); limit != nil {
		return limit
	}
	return r.atPath(substitutionPath(number), invalid("UnknownSubstitutionError", []*node{n, source},
		"An unknown exception occurred while trying to perform substitution using source document %s contained in "+
			"document %s. Details: %w", source.Identity, n.Identity, cause))
}

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
	members, items := contents(value)
	return len(members)+len(items) > 0
}

// rewriting replaces a pattern in all texts below a container.
type rewriting struct {
	*tree

	pattern *pattern
	written string // the pattern; only texts that contain it literally are searched
	from    *place // where the value was read that is put in its place
	with    string // the value as text
	depth   int
	found   bool // the pattern is in a text
}

// string replaces all matches in a text.
func (r *rewriting) string(text string) (string, error) {
	matches, err := r.pattern.matches(r.meter, text)
	if err != nil || len(matches) == 0 {
		return text, err
	}
	r.found = true
	size := len(text) + len(matches)*len(r.with)
	for _, match := range matches {
		size -= match[1] - match[0]
	}
	if int64(size-len(text)) > r.room-r.size {
		return "", ErrTooLarge
	}
	r.charge(visitCost*len(matches) + size/bytesPerStep)
	if r.hold(wordSize + size); r.err != nil {
		return "", r.err
	}
	var changed strings.Builder
	changed.Grow(size)
	end := 0
	for _, match := range matches {
		changed.WriteString(text[end:match[0]])
		changed.WriteString(r.with)
		end = match[1]
	}
	changed.WriteString(text[end:])
	return changed.String(), nil
}

// container rewrites a container at a depth, and reports whether it changed.
func (r *rewriting) container(value any, at *place, depth int) (now any, changed bool, err error) {
	if depth == r.depth || r.err != nil {
		return value, false, r.err
	}
	own, _ := value.(container)
	members, items := contents(value)
	for i := range len(members) + len(items) {
		now, differs, err := r.member(item(value, i), at.at(value, i), depth)
		if err != nil {
			return nil, false, err
		}
		if !differs {
			continue
		}
		if own == nil {
			own = r.owned(value)
		}
		own.set(i, now)
		changed = true
	}
	if own == nil {
		return value, false, nil
	}
	return own, changed, nil
}

// member rewrites a text that contains the pattern, and descends into a container.
func (r *rewriting) member(value any, at *place, depth int) (now any, changed bool, err error) {
	if r.charge(visitCost); at != nil {
		r.charge(placeCost)
	}
	text, ok := value.(string)
	if !ok {
		return r.container(value, at, depth+1)
	}
	r.charge(visitCost + len(text)/bytesPerStep)
	if !strings.Contains(text, r.written) {
		return value, false, nil
	}
	rewritten, err := r.string(text)
	if err != nil || rewritten == text {
		return value, false, err
	}
	r.note(changeInserted, at, r.from)
	return rewritten, true, r.grow(int64(len(rewritten)-len(text)), 0)
}
