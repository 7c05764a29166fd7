package rendering

import (
	"slices"

	"purser/internal/rendering/history"
	"purser/internal/rendering/meter"
	"purser/internal/rendering/paths"
)

// maxSteps is how many steps of a trail are shown.
const maxSteps = 100

// trail follows a leaf back to where it was written.
func (x *explainer) trail(p history.Position) Trail {
	var t Trail
	for !p.Own && !p.Made && x.Err == nil {
		heir := p.History.Document
		c := p.Back(x.Meter)
		switch {
		case c != nil:
			x.add(&t, x.step(c, len(t.Steps) < maxSteps))
		case !p.Own:
			x.add(&t, Step{Kind: Inherited, Document: heir})
		}
	}
	if t.Document = p.History.Document; p.Own {
		if t.Path = "."; !x.nodes[p.History.Document].Encrypted {
			t.Path = x.text(p.Steps)
		}
	}
	slices.Reverse(t.Steps)
	return t
}

func (x *explainer) add(t *Trail, s Step) {
	x.Charge(meter.Visit)
	if len(t.Steps) == maxSteps {
		t.Omitted++
		return
	}
	texts := len(s.From) + len(s.Part) + len(s.To) + len(s.Pattern)
	x.Hold(stepTextSize + texts) // as often as they are shown
	x.size += stepTextSize + texts + len(x.nodes[s.Document].Identity.Name)
	t.Steps = append(t.Steps, s)
}

// stepTextSize is the memory of a step of a trail besides its texts, in bytes.
const stepTextSize = 128

// step returns the step that a change made with a leaf; further says whether to follow an inserted value too.
func (x *explainer) step(c *history.Change, further bool) Step {
	n := &x.nodes[c.History.Document]
	s := Step{Document: n.Index, Number: c.Number}
	if c.Source == nil {
		a := n.Actions[c.Number]
		s.Kind, s.To = methodStep(a.Method), x.textOf(a.Path)
		s.From = s.To
		return s
	}
	by := &n.Substitutions[c.Number]
	to := by.Destinations[c.Destination]
	s.Kind, s.Source = Substituted, c.Source.Document
	s.From, s.Part, s.To, s.Pattern = by.Written, by.Pattern, to.Written, to.Pattern
	if c.Kind == history.Inserted {
		s.Kind = Inserted
		if c.From != nil && further && x.nested < maxNested {
			x.nested++
			inserted := x.trail(c.Source.At(c.From.Steps()))
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
func (x *explainer) text(steps []paths.Step) string {
	size := 0
	for _, s := range steps {
		size += meter.Word + len(s.Key)
	}
	x.Charge(meter.Rune * size)
	if x.Hold(2 * size); x.Err != nil {
		return ""
	}
	return paths.Of(steps)
}

// textOf is text for a path of an action, which many leaves may share.
func (x *explainer) textOf(p *paths.Path) string {
	known, ok := x.texts[p]
	if !ok {
		known = x.text(p.Steps)
		x.texts[p] = known
	}
	return known
}

// secrecy follows a leaf back and reports whether any document on its way is encrypted. depth is how many steps lead to
// the whole secret that the leaf is a part of, where the last substitution wrote it.
func (x *explainer) secrecy(p history.Position) (secret bool, depth int) {
	steps := len(p.Steps)
	depth = -1
	for !p.Own && !p.Made && x.Err == nil {
		c := p.Back(x.Meter)
		if c == nil {
			continue
		}
		n := &x.nodes[c.History.Document]
		secret = secret || n.Encrypted || c.Source != nil && x.nodes[c.Source.Document].Encrypted || x.insertsSecret(c)
		if depth < 0 && c.Kind == history.Written && c.Source != nil && x.nodes[c.Source.Document].Secret {
			depth = len(n.Substitutions[c.Number].Destinations[c.Destination].Path.Steps)
		}
	}
	if secret = secret || p.Own && x.nodes[p.History.Document].Encrypted; !secret || depth < 0 {
		depth = steps
	}
	return secret, depth
}

// insertsSecret reports whether a change inserts a value into a text that is secret where it was read.
func (x *explainer) insertsSecret(c *history.Change) bool {
	if c.Kind != history.Inserted || c.From == nil {
		return false
	}
	secret, known := x.inserts[c]
	if !known {
		secret, _ = x.secrecy(c.Source.At(c.From.Steps()))
		x.inserts[c] = secret
	}
	return secret
}
