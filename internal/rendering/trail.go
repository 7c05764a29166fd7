package rendering

import (
	"slices"
)

// maxSteps is how many steps of a trail are shown.
const maxSteps = 100

// trail follows a leaf back to where it was written.
func (x *explainer) trail(p position) Trail {
	var t Trail
	for !p.own && !p.made && x.err == nil {
		heir := p.history.document
		c := p.back(x.meter)
		switch {
		case c != nil:
			x.add(&t, x.stage(c, len(t.Steps) < maxSteps))
		case !p.own:
			x.add(&t, Step{Kind: Inherited, Document: heir})
		}
	}
	if t.Document = p.history.document; p.own {
		if t.Path = "."; !x.nodes[p.history.document].encrypted {
			t.Path = x.text(p.steps)
		}
	}
	slices.Reverse(t.Steps)
	return t
}

func (x *explainer) add(t *Trail, s Step) {
	x.charge(visitCost)
	if len(t.Steps) == maxSteps {
		t.Omitted++
		return
	}
	texts := len(s.From) + len(s.Part) + len(s.To) + len(s.Pattern)
	x.hold(stepTextSize + texts) // as often as they are shown
	x.size += stepTextSize + texts + len(x.nodes[s.Document].Identity.Name)
	t.Steps = append(t.Steps, s)
}

// stepTextSize is the memory of a step of a trail besides its texts, in bytes.
const stepTextSize = 128

// stage returns the step that a change made with a leaf; further says whether to follow an inserted value too.
func (x *explainer) stage(c *change, further bool) Step {
	n := &x.nodes[c.history.document]
	s := Step{Document: n.index, Number: c.number}
	if c.source == nil {
		a := n.actions[c.number]
		s.Kind, s.To = methodStep(a.method), x.textOf(a.path)
		s.From = s.To
		return s
	}
	by := &n.substitutions[c.number]
	to := by.destinations[c.destination]
	s.Kind, s.Source = Substituted, c.source.document
	s.From, s.Part, s.To, s.Pattern = by.written, by.pattern, to.written, to.pattern
	if c.kind == changeInserted {
		s.Kind = Inserted
		if c.from != nil && further && x.nested < maxNested {
			x.nested++
			inserted := x.trail(c.source.at(c.from.steps()))
			x.nested += len(inserted.Steps)
			s.Inserted = &inserted
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

// secrecy follows a leaf back and reports whether any document on its way is encrypted. depth is how many steps lead to
// the whole secret that the leaf is a part of, where the last substitution wrote it.
func (x *explainer) secrecy(p position) (secret bool, depth int) {
	steps := len(p.steps)
	depth = -1
	for !p.own && !p.made && x.err == nil {
		c := p.back(x.meter)
		if c == nil {
			continue
		}
		n := &x.nodes[c.history.document]
		secret = secret || n.encrypted || c.source != nil && x.nodes[c.source.document].encrypted || x.insertsSecret(c)
		if depth < 0 && c.kind == changeWritten && c.source != nil && x.nodes[c.source.document].secret {
			depth = len(n.substitutions[c.number].destinations[c.destination].path.steps)
		}
	}
	if secret = secret || p.own && x.nodes[p.history.document].encrypted; !secret || depth < 0 {
		depth = steps
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
		secret, _ = x.secrecy(c.source.at(c.from.steps()))
		x.inserts[c] = secret
	}
	return secret
}
