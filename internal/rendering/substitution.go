package rendering

import (
	"errors"
	"fmt"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering/declared"
	"purser/internal/rendering/history"
	"purser/internal/rendering/paths"
	"purser/internal/rendering/relations"
	"purser/internal/rendering/tree"
	"purser/internal/words"
)

// substitute applies one of a document's substitutions to its tree, which is useless after a fault.
func (r *run) substitute(t *tree.Tree, n *node, number int) error {
	s := &n.Substitutions[number]
	source := r.source(s)
	if source == nil {
		if r.options.Lenient {
			return nil
		}
		return &refusal{step: finding, number: number}
	}
	value, err := r.read(source, n, number)
	if err != nil {
		return err
	}
	found := true
	if s.Pattern != "" {
		value.Value, found, err = r.part(value.Value, s)
	}
	switch ended := r.ended(n, err, ", substitution %d", number+1); {
	case ended != nil:
		return ended
	case err != nil && r.options.Lenient:
		return nil
	case err != nil:
		return &refusal{step: taking, number: number, cause: err}
	case len(n.refusals) > 0:
		return nil
	case !found:
		r.note(n, warning{number, ofSource})
	}
	return r.write(t, &value, n, source, number)
}

// write writes a value to the destinations of a substitution.
func (r *run) write(t *tree.Tree, value *tree.Substitute, n, source *node, number int) error {
	s := &n.Substitutions[number]
	for i := range s.Destinations {
		r.Charge(changeCost)
		t.Begin(history.Event{Number: number, Source: source.history, Destination: i})
		found, err := t.Write(value, &s.Destinations[i])
		ended := r.ended(n, err, ", substitution %d to %s", number+1, words.Excerpt(s.Destinations[i].Written))
		switch {
		case ended != nil:
			return ended
		case err != nil && r.options.Lenient:
			return nil
		case err != nil:
			return &refusal{step: replacing, number: number, destination: i, cause: err}
		case !found:
			r.note(n, warning{number, i})
		}
	}
	if source.Secret || r.options.Compat {
		for _, d := range s.Destinations {
			n.destinations = r.appendPlace(n.destinations, d.Path)
		}
	}
	return nil
}

// read returns the value at a path of a source that is a mapping, or the whole source if it is not.
func (r *run) read(source, n *node, number int) (found tree.Substitute, err error) {
	s := &n.Substitutions[number]
	if found.Value, err = r.value(source); err != nil {
		return found, err
	}
	if source.history != nil {
		found.Place = &paths.Place{}
	}
	if _, isMapping := found.Value.(document.Mapping); isMapping {
		found.Value, found.Place, _ = r.memo.Locate(found.Value, s.Path.Steps, found.Place)
		if err = s.Path.Broken; err != nil {
			found.Value = nil
		}
	}
	if r.Err != nil {
		return found, r.stopped(n, fmt.Sprintf(", substitution from %s of %s", words.Excerpt(s.Written), source.Identity))
	}
	if found.Value == nil && !r.options.Lenient {
		return found, &refusal{step: reading, number: number, cause: err}
	}
	return found, nil
}

// noData is the fault of a substitution that finds nothing in its source; the cause is that of a broken path.
func (r *run) noData(n, source *node, number int, cause error) *fault.Fault {
	details := ""
	if cause != nil {
		details = ". Details: " + cause.Error()
	}
	return r.in(relations.SubstitutionPath(number)+".src", refuse("SubstitutionSourceDataNotFound", n, source,
		"Required substitution source secret was not found at path %s in source document %s which is referenced by "+
			"destination document %s under its `metadata.substitutions`%s",
		words.Excerpt(n.Substitutions[number].Written), source.Identity, n.Identity, details))
}

// part returns the part of a text that matches the source's pattern, or all of it if nothing matches.
func (r *run) part(value any, s *declared.Substitution) (part any, found bool, err error) {
	whole, ok := value.(string)
	if !ok {
		return nil, false, fmt.Errorf("src.pattern needs a string, but at %s there is %s", words.Excerpt(s.Written),
			tree.KindOf(value))
	}
	p, err := r.patterns.Compile(s.Pattern)
	if err != nil {
		return nil, false, err
	}
	return p.Group(r.Meter, whole, s.Group)
}

// destinationFault is the fault of a substitution that cannot be written.
func (r *run) destinationFault(n, source *node, number, destination int, cause error) *fault.Fault {
	if !errors.Is(cause, tree.ErrPattern) {
		return r.substitutionFault(n, source, number, cause)
	}
	d := &n.Substitutions[number].Destinations[destination]
	return r.in(relations.SubstitutionPath(number)+".dest", refuse("MissingDocumentPattern", n, source,
		"The destination document's `data` section is missing the pattern %s specified under "+
			"`substitutions.dest.pattern` at path %s, specified under `substitutions.dest.path`. Details: %w; the "+
			"destination document is %s", words.Excerpt(d.Pattern), words.Excerpt(d.Written), cause, n.Identity))
}

// substitutionFault is the fault of all failures without a separate class. The reference hides their causes.
func (r *run) substitutionFault(n, source *node, number int, cause error) *fault.Fault {
	if limit := limitFault(n, cause); limit != nil {
		return limit
	}
	return r.in(relations.SubstitutionPath(number), refuse("UnknownSubstitutionError", n, source,
		"An unknown exception occurred while trying to perform substitution using source document %s contained in "+
			"document %s. Details: %w", source.Identity, n.Identity, cause))
}

// refuse returns the fault of a document with a substitution, and of its source.
func refuse(errorType string, n, source *node, format string, args ...any) *fault.Fault {
	return relations.Refuse(errorType, []*relations.Node{n.Node, source.Node}, format, args...)
}
