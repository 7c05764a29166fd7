package rendering

import (
	"errors"
	"fmt"

	"purser/internal/document"
	"purser/internal/fault"
)

// substitution copies a value from one document into another (spec/rendering.md §8.5).
type substitution struct {
	source       key
	written      string // the path in the source
	path         *path
	pattern      string
	group        any
	destinations []destination
}

// substitutionSize is the memory of a substitution and its edge in the graph, in bytes.
const substitutionSize = 256

func (r *run) substitution(stored document.Mapping) substitution {
	r.hold(substitutionSize)
	src := mapping(stored.At("src"))
	s := substitution{
		source:  key{text(src.At("schema")), text(src.At("name"))},
		written: text(src.At("path")),
		path:    r.path(text(src.At("path"))),
		pattern: text(src.At("pattern")),
		group:   src.At("match_group"),
	}
	dest := stored.At("dest")
	several, ok := dest.([]any)
	if !ok {
		several = []any{dest}
	}
	for _, d := range several {
		s.destinations = append(s.destinations, r.destination(mapping(d)))
	}
	return s
}

// substitute applies one of a document's substitutions to its tree.
func (r *run) substitute(t *tree, n *node, number int) error {
	s := &n.substitutions[number]
	source := r.sources.of(s.source)
	if source == nil {
		if r.options.Lenient {
			return nil
		}
		return r.noSource(n, number)
	}
	value, err := r.read(source, n, number)
	if err != nil {
		return err
	}
	found := true
	if s.pattern != "" {
		value.value, found, err = r.part(value.value, s)
	}
	if err != nil {
		return r.substitutionFault(n, source, number, err)
	}
	if !found {
		r.warn(unmatched(n, source, number))
	}
	for i := range s.destinations {
		r.charge(changeCost)
		t.begin(event{n, number, source, i})
		found, err := r.writeTo(t, &value, &s.destinations[i])
		if r.err != nil {
			return r.check(n, fmt.Sprintf(", substitution %d to %s", number+1, shorten(s.destinations[i].written)))
		}
		if err != nil {
			return r.destinationFault(n, source, number, i, err)
		}
		if !found {
			r.warn(unreplaced(n, source, number, &s.destinations[i]))
		}
	}
	return nil
}

// read returns the value at a path of a source that is a mapping, or the whole source if it is not.
func (r *run) read(source, n *node, number int) (found substitute, err error) {
	s := &n.substitutions[number]
	if found.value, err = r.value(source); err != nil {
		return found, err
	}
	if source.history != nil {
		found.place = &place{}
	}
	cause := ""
	if _, isMapping := found.value.(document.Mapping); isMapping {
		found.value, found.place, _ = r.locate(found.value, s.path.steps, found.place)
		if s.path.broken != nil {
			found.value, cause = nil, ". Details: "+s.path.broken.Error()
		}
	}
	if r.err != nil {
		return found, r.check(n, fmt.Sprintf(", substitution from %s of %s", shorten(s.written), source.Identity))
	}
	if found.value == nil && !r.options.Lenient {
		return found, r.in(substitutionOf(number)+".src", refuse("SubstitutionSourceDataNotFound", []*node{n, source},
			"Required substitution source secret was not found at path %s in source document %s which is referenced by "+
				"destination document %s under its `metadata.substitutions`%s",
			shorten(s.written), source.Identity, n.Identity, cause))
	}
	return found, nil
}

// noSource is the fault of a substitution with a missing or abstract source.
func (r *run) noSource(n *node, number int) error {
	s, details := &n.substitutions[number], ""
	if !r.options.Compat {
		details = r.sources[s.source].details()
	}
	return r.in(substitutionOf(number)+".src", about(fault.New(fault.Conflict, "SubstitutionSourceNotFound",
		"Required substitution source document [%s] %s was not found, yet is referenced by %s%s",
		s.source.schema, s.source.name, n.brief(), details), n))
}

// part returns the part of a text that matches the source's pattern, or all of it if nothing matches.
func (r *run) part(value any, s *substitution) (part any, found bool, err error) {
	whole, ok := value.(string)
	if !ok {
		return nil, false, fmt.Errorf("src.pattern needs a string, but at %s there is %s", shorten(s.written), kindOf(value))
	}
	p, err := r.compile(s.pattern)
	if err != nil {
		return nil, false, err
	}
	return r.group(p, whole, s.group)
}

// destinationFault is the fault of a substitution that cannot be written; a lenient rendering skips it.
func (r *run) destinationFault(n, source *node, number, destination int, cause error) error {
	if !errors.Is(cause, errPattern) || r.options.Lenient {
		return r.substitutionFault(n, source, number, cause)
	}
	d := &n.substitutions[number].destinations[destination]
	return r.in(substitutionOf(number)+".dest", refuse("MissingDocumentPattern", []*node{n, source},
		"The destination document's `data` section is missing the pattern %s specified under "+
			"`substitutions.dest.pattern` at path %s, specified under `substitutions.dest.path`. Details: %w; the "+
			"destination document is %s", shorten(d.pattern), shorten(d.written), cause, n.Identity))
}

// substitutionFault is the fault of all failures without a separate class. The reference hides their causes (R9).
func (r *run) substitutionFault(n, source *node, number int, cause error) error {
	if limit := r.limitFault(n, cause, ", substitution %d", number+1); limit != nil {
		return limit
	}
	if r.options.Lenient {
		return nil
	}
	return r.in(substitutionOf(number), refuse("UnknownSubstitutionError", []*node{n, source},
		"An unknown exception occurred while trying to perform substitution using source document %s contained in "+
			"document %s. Details: %w", source.Identity, n.Identity, cause))
}
