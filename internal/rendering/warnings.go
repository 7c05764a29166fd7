package rendering

import (
	"fmt"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

// maxWarnings is the number of warnings kept: of those that depend on secrets, and of the others.
const maxWarnings = 50

// warn keeps a fault as a warning about a likely mistake that does not prevent rendering.
func (r *run) warn(secret bool, word func() *fault.Fault) {
	if !r.options.Compat {
		_ = r.keep(&r.warnings, secret, word)
	}
}

// warning is that a pattern of a substitution was not found: that of its source, or of one of its destinations.
type warning struct{ number, destination int }

// ofSource is the destination of warnings about the pattern of a source.
const ofSource = -1

// noteWarning notes a warning about a document.
func (r *run) noteWarning(n *node, w warning) {
	r.charge(visitCost)
	switch {
	case r.options.Compat:
	case len(n.warnings) == maxWarnings:
		n.moreWarned++
	default:
		n.warnings = append(n.warnings, w)
	}
}

// warningFault returns a warning about a document as a fault.
func (r *run) warningFault(n *node, w warning) *fault.Fault {
	source := r.source(n, w.number)
	if w.destination == ofSource {
		return unmatched(n, source, w.number)
	}
	return unreplaced(n, source, w.number, w.destination)
}

// warned returns all warnings, those that depend on no secret first, with the numbers of those not kept.
func (r *run) warned() (all []fault.Message) {
	add := func(name string, m fault.Message) {
		m.Error, m.Name, m.Level, m.Kind = false, name, "Warning", fault.WarningKind
		all = append(all, m)
	}
	for _, secret := range []bool{false, true} {
		for _, f := range r.warnings.kept {
			if f.Secret == secret {
				add(f.Type, f.Messages[0])
			}
		}
		if more := r.warnings.of(secret).count; more > 0 {
			add("", fault.Message{Message: fmt.Sprintf("More warnings, not shown: %d", more), Secret: secret})
		}
	}
	return all
}

// unreplaced warns that the pattern of a destination does not occur in its text, which stays unchanged.
func unreplaced(n, source *node, number, destination int) *fault.Fault {
	d, where := &n.substitutions[number].destinations[destination], "the text at"
	if d.recursive {
		where = "any text that is looked at below"
	}
	f := invalid("DocumentPatternNotFound", []*node{n, source},
		"The pattern %s is not in %s %s of document %s, so substitution %d, from document %s, changes nothing",
		document.Quote(words.Excerpt(d.pattern)), where, words.Excerpt(d.written), n.Identity, number+1, source.Identity)
	f.Messages[0].Path = substitutionPath(number) + ".dest"
	return f
}

// unmatched warns that the pattern of a source matches nothing in its text, so all of the text is taken.
func unmatched(n, source *node, number int) *fault.Fault {
	s := &n.substitutions[number]
	f := invalid("SourcePatternNotFound", []*node{n, source},
		"The pattern %s matches nothing in the text at %s of document %s, so substitution %d of document %s takes "+
			"all of it", document.Quote(words.Excerpt(s.pattern)), words.Excerpt(s.written), source.Identity, number+1,
		n.Identity)
	f.Messages[0].Path = substitutionPath(number) + ".src.pattern"
	return f
}
