package rendering

import "slices"

// mostSteps is how many steps of a trail are told.
const mostSteps = 100

// trail follows a leaf of a document back to where it was written.
func (x *explainer) trail(at *node, o *origin) Trail {
	var t Trail
	for ; ; o = o.before {
		for ; at != o.node; at = at.ancestor() {
			x.add(&t, Step{Kind: Inherited, Document: at.index})
		}
		if o.kind == written {
			if t.Path = "."; !at.encrypted {
				t.Path = o.place.String()
			}
			break
		}
		x.add(&t, x.step(o, len(t.Steps) < mostSteps))
		if o.before == nil {
			break
		}
		if o.source != nil && o.kind == passed {
			at = o.source
		}
	}
	t.Document = at.index
	slices.Reverse(t.Steps)
	return t
}

func (x *explainer) add(t *Trail, s Step) {
	x.charge(1)
	if len(t.Steps) == mostSteps {
		t.Omitted++
		return
	}
	t.Steps = append(t.Steps, s)
}

// step is what an event did to a leaf; further tells whether a value that was inserted is followed too.
func (x *explainer) step(o *origin, further bool) Step {
	s := Step{Document: o.node.index, Number: o.number}
	if o.source == nil {
		a := o.node.actions[o.number]
		s.Kind, s.To = methodStep(a.method), a.path.upTo(len(a.path.steps))
		s.From = s.To
		return s
	}
	by := &o.node.substitutions[o.number]
	to := by.destinations[o.destination]
	s.Kind, s.Source = Substituted, o.source.index
	s.From, s.Part, s.To, s.Pattern = by.written, by.pattern, to.written, to.pattern
	if o.kind == inserted {
		s.Kind = Inserted
		if o.inserted != nil && further && x.nested < mostNested {
			x.nested++
			way := x.trail(o.source, o.inserted)
			x.nested += len(way.Steps)
			s.Inserted = &way
		}
	}
	return s
}

func methodStep(method string) StepKind {
	switch method {
	case "replace":
		return Replaced
	case "delete":
		return Deleted
	}
	return Merged
}
