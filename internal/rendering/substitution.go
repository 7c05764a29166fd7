package rendering

import (
	"errors"
	"fmt"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

// substitute applies one of a document's substitutions to its tree, which is useless after a fault.
func (r *run) substitute(t *tree, n *node, number int) error {
	s := &n.substitutions[number]
	source := r.source(n, number)
	if source == nil {
		if r.options.Lenient {
			return nil
		}
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
	case err != nil && r.options.Lenient:
		return nil
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
		case err != nil && r.options.Lenient:
			return nil
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
	if found.value == nil && !r.options.Lenient {
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
