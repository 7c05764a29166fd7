package rendering

import "slices"

// hop is one step of the way of a value back to where it was written: a change in a document, nil if the document
// inherited the value.
type hop struct {
	in *node
	*change
}

// way follows a position back to where its value was written.
func (x *explainer) way(p position) (hops []hop, origin position) {
	for !p.own && !p.made && x.err == nil {
		in := p.node
		if c := p.back(x.meter); c != nil || !p.own {
			hops = append(hops, hop{in, c})
		}
	}
	x.holdBriefly(2 * wordSize * len(hops))
	return hops, p
}

// maxSteps is how many steps of a trail are shown.
const maxSteps = 100

// trail describes the way of a value.
func (x *explainer) trail(hops []hop, origin position) Trail {
	shown := hops[:min(maxSteps, len(hops))]
	t := Trail{Document: origin.node.index, Omitted: len(hops) - len(shown)}
	for _, h := range shown {
		t.Steps = append(t.Steps, x.step(h))
	}
	slices.Reverse(t.Steps)
	if origin.own {
		if t.Path = "."; !origin.node.encrypted {
			t.Path = x.text(origin.steps)
		}
	}
	return t
}

// stepTextSize is the memory of a step of a trail besides its texts, in bytes.
const stepTextSize = 128

// step returns the step that a hop is, with the trail of a value that it inserted, and counts its texts.
func (x *explainer) step(h hop) Step {
	s := Step{Kind: Inherited, Document: h.in.index}
	switch {
	case h.change == nil:
	case h.source == nil:
		a := h.in.actions[h.number]
		s.Kind, s.Number, s.To = methodStep(a.method), h.number, x.textOf(a.path)
		s.From = s.To
	default:
		by := &h.in.substitutions[h.number]
		to := by.destinations[h.destination]
		s.Kind, s.Number, s.Source = Substituted, h.number, h.source.index
		s.From, s.Part, s.To, s.Pattern = by.written, by.pattern, to.written, to.pattern
		if h.kind == changeInserted {
			s.Kind, s.Inserted = Inserted, x.inserted(h)
		}
	}
	texts := stepTextSize + len(s.From) + len(s.Part) + len(s.To) + len(s.Pattern)
	x.charge(visitCost)
	x.hold(texts) // as often as they are shown
	x.size += texts + len(h.in.Name)
	return s
}

// inserted returns the trail of a value that was inserted into a text, nil if it is a container or there are too many.
func (x *explainer) inserted(h hop) *Trail {
	if h.from == nil || x.nested >= maxNested {
		return nil
	}
	x.nested++
	t := x.trail(x.way(h.source.at(h.from.steps())))
	x.nested += len(t.Steps)
	return &t
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

// text formats steps as a path.
func (x *explainer) text(steps []pathStep) string {
	size := 0
	for _, s := range steps {
		size += wordSize + len(s.key)
	}
	x.charge(runeCost * size)
	if x.hold(2 * size); x.err != nil {
		return ""
	}
	return pathText(steps)
}

// textOf is text for a path of an action, which many leaves may share.
func (x *explainer) textOf(p *dataPath) string {
	known, ok := x.texts[p]
	if !ok {
		known = x.text(p.steps)
		x.texts[p] = known
	}
	return known
}

// secrecy reports whether any document on the way of a leaf is encrypted. depth is how many steps lead to the whole
// secret that the leaf is a part of, where the last substitution wrote it; otherwise it is that of the leaf.
func (x *explainer) secrecy(hops []hop, origin position, depth int) (bool, int) {
	secret, whole := origin.own && origin.node.encrypted, -1
	for _, h := range hops {
		if h.change == nil {
			continue
		}
		secret = secret || h.in.encrypted || h.source != nil && h.source.encrypted || x.insertsSecret(h.change)
		if whole < 0 && h.kind == changeWritten && h.source != nil && h.source.secret {
			whole = len(h.in.substitutions[h.number].destinations[h.destination].path.steps)
		}
	}
	if secret && whole >= 0 {
		depth = min(whole, depth)
	}
	return secret, depth
}

// insertsSecret reports whether a change inserts a value into a text that is secret where it was read.
func (x *explainer) insertsSecret(c *change) bool {
	if c.kind != changeInserted || c.from == nil {
		return false
	}
	secret, known := x.inserts[c]
	if !known {
		hops, origin := x.way(c.source.at(c.from.steps()))
		secret, _ = x.secrecy(hops, origin, 0)
		x.inserts[c] = secret
	}
	return secret
}
