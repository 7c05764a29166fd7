package rendering

import (
	"fmt"

	"purser/internal/document/repr"
	"purser/internal/fault"
	"purser/internal/words"
)

// maxWarnings is the number of warnings kept: of those that depend on secrets, and of the others.
const maxWarnings = 50

const (
	warningCost = 3000 // to write a warning
	warningSize = 1024
)

// warnings are about likely mistakes that do not prevent rendering. Those that depend on secrets are counted
// separately, so that the number of the others reveals nothing about secrets.
type warnings struct{ open, secret warningList }

type warningList struct {
	kept []fault.Message
	more int // that are not kept
}

func (w *warnings) of(secret bool) *warningList {
	if secret {
		return &w.secret
	}
	return &w.open
}

// warn keeps the message of a fault, which word returns, as a warning.
func (r *run) warn(secret bool, word func() *fault.Fault) {
	if r.options.Compat {
		return
	}
	list := r.warnings.of(secret)
	if len(list.kept) == maxWarnings {
		r.warnMore(secret, 1)
		return
	}
	r.charge(warningCost)
	r.hold(warningSize)
	f := word()
	list.kept = append(list.kept, warningOf(f.Type, f.Messages[0]))
}

// warnMore counts warnings that are not kept.
func (r *run) warnMore(secret bool, number int) {
	r.charge(visitCost)
	r.warnings.of(secret).more += number
}

// warning is that a pattern of a substitution was not found: that of its source, or of one of its destinations.
type warning struct{ number, destination int }

// ofSource is the destination of warnings about the pattern of a source.
const ofSource = -1

// note notes a warning about a document.
func (r *run) note(n *dataNode, w warning) {
	r.charge(visitCost)
	switch {
	case r.options.Compat:
	case len(n.warnings) == maxWarnings:
		n.moreWarned++
	default:
		n.warnings = append(n.warnings, w)
	}
}

// wordedOf words a warning about a document.
func (r *run) wordedOf(n *dataNode, w warning) *fault.Fault {
	number := w.number
	s := &n.substitutions[number]
	if w.destination == ofSource {
		return unmatched(n, r.source(s), number)
	}
	return unreplaced(n, r.source(s), number, &s.destinations[w.destination])
}

func warningOf(name string, m fault.Message) fault.Message {
	m.Error, m.Name, m.Level, m.Kind = false, name, "Warning", fault.WarningKind
	return m
}

// all returns the warnings, each list in the order of discovery, with the number of those not kept.
func (w *warnings) all() (all []fault.Message) {
	for _, list := range []warningList{w.open, w.secret} {
		all = append(all, list.kept...)
		if list.more > 0 {
			more := fault.Message{Message: fmt.Sprintf("More warnings, not shown: %d", list.more), Secret: list.kept[0].Secret}
			all = append(all, warningOf("", more))
		}
	}
	return all
}

// unreplaced warns that the pattern of a destination does not occur in its text, which stays unchanged.
func unreplaced(n, source *dataNode, number int, d *destination) *fault.Fault {
	where := "the text at"
	if d.recursive {
		where = "any text that is looked at below"
	}
	f := invalidSubstitution("DocumentPatternNotFound", n, source,
		"The pattern %s is not in %s %s of document %s, so substitution %d, from document %s, changes nothing",
		repr.Quote(words.Excerpt(d.pattern)), where, words.Excerpt(d.written), n.Identity, number+1, source.Identity)
	f.Messages[0].Path = fmt.Sprintf(".metadata.substitutions.%d.dest", number)
	return f
}

// unmatched warns that the pattern of a source matches nothing in its text, so all of the text is taken.
func unmatched(n, source *dataNode, number int) *fault.Fault {
	s := &n.substitutions[number]
	f := invalidSubstitution("SourcePatternNotFound", n, source,
		"The pattern %s matches nothing in the text at %s of document %s, so substitution %d of document %s takes "+
			"all of it", repr.Quote(words.Excerpt(s.pattern)), words.Excerpt(s.written), source.Identity, number+1, n.Identity)
	f.Messages[0].Path = fmt.Sprintf(".metadata.substitutions.%d.src.pattern", number)
	return f
}
