package rendering

import (
	"slices"

	"purser/internal/document"
)

// traced stands in the place of a leaf while a document is explained: it goes wherever the leaf goes. A leaf is any
// value but a container with something in it.
type traced struct {
	value  any
	origin *origin
}

// origin is where a leaf comes from: the last thing that happened to it, and what it was before.
type origin struct {
	event
	kind     originKind
	place    *place  // in the data of the event's document, of what was written there
	before   *origin // nil of what was written or made
	inserted *origin // of the value that was put into a text, nil if that is a container
	secret   bool    // an encrypted document wrote it or passed it on
}

type originKind uint8

const (
	written  originKind = iota // in the submitted data of a document
	made                       // by an action or a substitution, on the way to something else
	passed                     // on by an action or a substitution
	inserted                   // a text, of which a pattern was replaced
)

// event is one action or one destination of a substitution.
type event struct {
	node        *node
	number      int   // of the action or substitution in the document's list
	source      *node // of a substitution, nil of an action
	destination int   // of a substitution
}

// origin is that of a leaf to which an event happened.
func (e *event) origin(kind originKind, before, inserted *origin) *origin {
	secret := e.node.encrypted || e.source != nil && e.source.encrypted ||
		before != nil && before.secret || inserted != nil && inserted.secret
	return &origin{*e, kind, nil, before, inserted, secret}
}

// place is a path in a document's data, from its end.
type place struct {
	in *place // nil for the root
	step
}

// String writes the place as a path.
func (p *place) String() string { return pathOf(p.steps()) }

// parts writes each step of the place.
func (p *place) parts() (parts []string) {
	for _, s := range p.steps() {
		parts = append(parts, s.String())
	}
	return parts
}

func (p *place) steps() (steps []step) {
	for ; p.in != nil; p = p.in {
		steps = append(steps, p.step)
	}
	slices.Reverse(steps)
	return steps
}

// bare is a value without what is known of where it comes from.
func bare(value any) any {
	if t, ok := value.(*traced); ok {
		return t.value
	}
	return value
}

func originOf(value any) *origin {
	if t, ok := value.(*traced); ok {
		return t.origin
	}
	return nil
}

// like gives a leaf the origin of the one that it was made from.
func like(value, changed any) any {
	if t, ok := value.(*traced); ok {
		return &traced{changed, t.origin}
	}
	return changed
}

// each puts for every leaf of a value what a function makes of it; path is where the value stands.
func (m *meter) each(value any, path *place, leaf func(value any, path *place) any) any {
	switch v := value.(type) {
	case document.Mapping:
		if len(v) > 0 {
			m.charge(len(v))
			changed := make(document.Mapping, len(v))
			for i := range v {
				at := &place{path, step{kind: byKey, key: v[i].Key}}
				changed[i] = document.Member{Key: v[i].Key, Value: m.each(v[i].Value, at, leaf)}
			}
			return changed
		}
	case []any:
		if len(v) > 0 {
			m.charge(len(v))
			changed := make([]any, len(v))
			for i := range v {
				changed[i] = m.each(v[i], &place{path, step{kind: byIndex, index: i}}, leaf)
			}
			return changed
		}
	}
	return leaf(value, path)
}

// written notes where the leaves of a document's own data stand in it.
func (r *run) written(n *node, data any) any {
	return r.each(data, &place{}, func(value any, path *place) any {
		return &traced{value, &origin{event: event{node: n}, kind: written, place: path, secret: n.encrypted}}
	})
}

// begin says what changes the tree from now on.
func (t *tree) begin(e event) {
	if t.tracing {
		t.event = &e
	}
}

// passed notes that a value is brought to a place of the tree.
func (t *tree) passed(value any) any {
	if t.event == nil {
		return value
	}
	return t.each(value, nil, func(value any, _ *place) any {
		return &traced{bare(value), t.event.origin(passed, originOf(value), nil)}
	})
}

// inserted notes that a value was put into a text.
func (t *tree) inserted(was any, now string, value any) any {
	if t.event == nil {
		return now
	}
	return &traced{now, t.event.origin(inserted, originOf(was), originOf(value))}
}

// blank is an empty container that the tree itself makes.
func (t *tree) blank(empty any) any { return t.made().wrap(empty) }

// made is the origin of what the tree makes or empties now, nil if nobody asks.
func (t *tree) made() *origin {
	if t.event == nil {
		return nil
	}
	return t.event.origin(made, nil, nil)
}

func (o *origin) wrap(value any) any {
	if o == nil {
		return value
	}
	return &traced{value, o}
}

// around is the place of the whole secret that a leaf is a part of: where the last substitution brought it.
func (o *origin) around(at *place) *place {
	for ; o != nil; o = o.before {
		if o.source == nil || !o.source.secret || o.kind != passed {
			continue
		}
		to := o.node.substitutions[o.number].destinations[o.destination].path
		for extra := len(at.steps()) - len(to.steps); extra > 0; extra-- {
			at = at.in
		}
		return at
	}
	return at
}
