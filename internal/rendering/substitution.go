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

func (r *run) substitution(stored document.Mapping) substitution {
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

// substitute makes one of a document's substitutions in its tree.
func (r *run) substitute(t *tree, n *node, number int) error {
	s := &n.substitutions[number]
	source := r.sources.of(s.source)
	if source == nil {
		if r.options.Lenient {
			return nil
		}
		return noSource(n, s)
	}
	value, err := r.valueOf(source, n, s)
	if err != nil {
		return err
	}
	n.secret = n.secret || source.secret
	if value, err = r.part(value, s); err != nil {
		return r.unknown(n, source, err)
	}
	said := said{value: value}
	for i := range s.destinations {
		if err := r.check(n); err != nil {
			return err
		}
		d := &s.destinations[i]
		t.begin(event{n, number, source, i})
		if err := r.bring(t, &said, d); err != nil {
			return r.destinationFault(n, source, d, err)
		}
	}
	return nil
}

// valueOf reads a source: what stands at the path of a mapping, or the whole of anything else.
func (r *run) valueOf(source, n *node, s *substitution) (any, error) {
	value, err := r.value(source)
	if err != nil {
		return nil, err
	}
	cause := ""
	if _, isMapping := bare(value).(document.Mapping); isMapping {
		value, _ = r.first(value, s.path.steps)
		if s.path.broken != nil {
			value, cause = nil, ". Details: "+s.path.broken.Error()
		}
	}
	if bare(value) == nil && !r.options.Lenient {
		return nil, refuse("SubstitutionSourceDataNotFound", []*node{n, source},
			"Required substitution source secret was not found at path %s in source document %s which is referenced by "+
				"destination document %s under its `metadata.substitutions`%s",
			shorten(s.written), source.Identity, n.Identity, cause)
	}
	return value, nil
}

// noSource is the fault of a substitution from a document that is not there, or is abstract.
func noSource(n *node, s *substitution) error {
	return about(fault.New(fault.Conflict, "SubstitutionSourceNotFound",
		"Required substitution source document [%s] %s was not found, yet is referenced by %s",
		s.source.schema, s.source.name, n.brief()), n)
}

// part cuts out of a text what the source's pattern asks for; where the pattern is not found, all of it stays.
func (r *run) part(value any, s *substitution) (any, error) {
	if s.pattern == "" {
		return value, nil
	}
	whole, ok := bare(value).(string)
	if !ok {
		return nil, fmt.Errorf("src.pattern needs a string, but at %s there is %s", shorten(s.written), kindOf(value))
	}
	p, err := r.compile(s.pattern)
	if err != nil {
		return nil, err
	}
	part, err := r.group(p, whole, s.group)
	return like(value, part), err
}

// destinationFault says why a substitution cannot be made; a lenient rendering passes over it.
func (r *run) destinationFault(n, source *node, d *destination, cause error) error {
	if !errors.Is(cause, errPattern) || r.options.Lenient {
		return r.unknown(n, source, cause)
	}
	return refuse("MissingDocumentPattern", []*node{n, source},
		"The destination document's `data` section is missing the pattern %s specified under "+
			"`substitutions.dest.pattern` at path %s, specified under `substitutions.dest.path`. Details: %w; the "+
			"destination document is %s", shorten(d.pattern), shorten(d.written), cause, n.Identity)
}

// unknown is the class of all failures that have none of their own. The reference hides what they are (R9).
func (r *run) unknown(n, source *node, cause error) error {
	if limit := r.limitFault(n, cause); limit != nil {
		return limit
	}
	if r.options.Lenient {
		return nil
	}
	return refuse("UnknownSubstitutionError", []*node{n, source},
		"An unknown exception occurred while trying to perform substitution using source document %s contained in "+
			"document %s. Details: %w", source.Identity, n.Identity, cause)
}
