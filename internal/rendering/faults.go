package rendering

import (
	"errors"
	"fmt"
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

// invalid returns the fault of documents that do not render as they are. The class and text are Deckhand's, where it
// has them.
func invalid(errorType string, documents []*node, format string, args ...any) *fault.Fault {
	return about(fault.New(fault.Invalid, errorType, format, args...), documents...)
}

// invalidBecause is invalid with a reason, which is also in a separate field.
func invalidBecause(errorType, reason string, documents []*node, format string, args ...any) *fault.Fault {
	f := invalid(errorType, documents, format+" Reason: %s", append(args, reason)...)
	f.Reason = reason
	return f
}

// about adds the documents of a fault in machine-readable form. The fault is secret if one of them is.
func about(f *fault.Fault, documents ...*node) *fault.Fault {
	message := fault.Message{Message: f.Message, Error: true}
	for _, n := range documents {
		f.Secret = f.Secret || n.secret
		message.Documents = append(message.Documents, fault.Document{
			Schema: n.Schema, Name: n.Name, Layer: n.Layer, Encrypted: n.encrypted,
		})
	}
	message.Secret = f.Secret
	f.Messages = []fault.Message{message}
	return f
}

// setSecret sets whether a fault and its message depend on a secret.
func setSecret(f *fault.Fault, secret bool) *fault.Fault {
	f.Secret, f.Messages[0].Secret = secret, secret
	return f
}

// maxFaults is the number of faults that are kept: of those that depend on encrypted documents, and of the others.
const maxFaults = 200

// faults are the first of the faults or warnings that are found, in that order, and the numbers of the others. Secret
// ones are counted separately, so that the number of the others reveals nothing about them.
type faults struct {
	most         int // are kept: of those that depend on encrypted documents, and of the others
	kept         []*fault.Fault
	open, secret others
}

// others are the faults that are not kept.
type others struct {
	kept, count int
	fault       *fault.Fault // stands for them
}

func (f *faults) of(secret bool) *others {
	if secret {
		return &f.secret
	}
	return &f.open
}

// full reports whether no more faults are kept that depend on encrypted documents, or of the others.
func (f *faults) full(secret bool) bool { return f.of(secret).kept == f.most }

// keep keeps a fault. It returns the one that stands for it: itself, or the one of those that are not kept.
func (f *faults) keep(found *fault.Fault) *fault.Fault {
	if f.full(found.Secret) {
		return f.count(found.Secret, 1)
	}
	f.of(found.Secret).kept++
	f.kept = append(f.kept, found)
	return found
}

// count counts faults that are not kept, and returns the one that stands for them.
func (f *faults) count(secret bool, number int) *fault.Fault {
	others := f.of(secret)
	if others.count += number; others.fault == nil {
		others.fault = setSecret(invalid(MoreErrors, nil,
			"The document does not render; its error is not among the first %d", f.most), secret)
	}
	return others.fault
}

// mark is how many faults there are at a time.
type mark struct{ kept, open, secret int }

func (f *faults) mark() mark { return mark{len(f.kept), f.open.count, f.secret.count} }

// appendOf appends the faults that others have from one mark to another.
func (f *faults) appendOf(others *faults, from, to mark) {
	for _, found := range others.kept[from.kept:to.kept] {
		_ = f.keep(found)
	}
	if more := to.open - from.open; more > 0 {
		_ = f.count(false, more)
	}
	if more := to.secret - from.secret; more > 0 {
		_ = f.count(true, more)
	}
}

// MoreErrors is the type of the fault that stands for those that an Outcome does not list.
const MoreErrors = "MoreErrors"

// all returns the faults, at the end the numbers of those that were not kept.
func (f *faults) all() []*fault.Fault {
	all := slices.Clip(f.kept)
	for _, others := range []others{f.open, f.secret} {
		if others.count > 0 {
			counted, unlisted := *others.fault, fault.Unlisted(others.count)
			counted.Message = unlisted.Message
			about(&counted).Messages[0].Unlisted = unlisted.Unlisted
			all = append(all, &counted)
		}
	}
	return all
}

// faultCost is the cost of a fault or a warning, in steps.
const faultCost = 3000

// keep adds a fault to some, which it words only if it is kept, and returns the one that stands for it.
func (r *run) keep(some *faults, secret bool, word func() *fault.Fault) *fault.Fault {
	if r.charge(visitCost); some.full(secret) {
		return some.count(secret, 1)
	}
	r.charge(faultCost)
	return some.keep(word())
}

// fail records a fault of a document, which it words only if it is kept.
func (r *run) fail(n *node, secret bool, word func() *fault.Fault) {
	n.cause, n.failed = r.keep(&r.faults, secret, word), true
}

// substitutionPath returns the path of a substitution in a document's metadata.
func substitutionPath(number int) string { return fmt.Sprintf(".metadata.substitutions.%d", number) }

// noSource returns the fault of a substitution with a missing or abstract source.
func (r *run) noSource(n *node, number int) *fault.Fault {
	source, details := n.substitutions[number].source, ""
	if !r.options.Compat {
		details = r.sources[source].details()
	}
	return r.atPath(substitutionPath(number)+".src", about(fault.New(fault.Conflict, "SubstitutionSourceNotFound",
		"Required substitution source document [%s] %s was not found, yet is referenced by %s%s",
		source.Schema, source.Name, n.brief(), details), n))
}

// atPath says where in the first document a fault is, which Deckhand does not.
func (r *run) atPath(path string, f *fault.Fault) *fault.Fault {
	if !r.options.Compat {
		f.Messages[0].Path = path
	}
	return f
}

// ParentNotFound is the type of faults and warnings about selectors that select nothing.
const ParentNotFound = "DocumentParentNotFound"

// orphanFault returns the fault of a document's selector that selects nothing. Deckhand renders the document as if it
// had no selector.
func orphanFault(n *node) *fault.Fault {
	f := invalid(ParentNotFound, []*node{n},
		"The parentSelector of document %s selects no document, so it inherits nothing", n.Identity)
	return setSecret(f, n.encrypted) // it does not depend on what is substituted
}

// stopped returns the error that stops the work on a document, nil if it may go on; doing names the part that was
// worked on.
func (r *run) stopped(n *node, doing string) error {
	err := r.check()
	switch {
	case err == nil:
		return nil
	case r.spent != r.shared && budget.IsAlone(err): // a fault of the document, and not of the request
		return about(document.TooLarge("render document %s%s: %s, the limit for its size and that of its sources; "+
			"simplify it", n.Identity, doing, err.Error()), n)
	case r.isOwn(n):
		doing += ", with all others of the change"
	}
	err = budget.About(err, "render document %s%s", n.Identity, doing)
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Kind == fault.TooLarge {
		return about(f, n)
	}
	return fmt.Errorf("render documents: %w", err)
}

// refusal is why a document does not render: the step that failed, and the cause. It takes less memory than a fault,
// and depends only on the document and what it takes from.
type refusal struct {
	stage       stage
	number      int // of the action or the substitution
	destination int // of the substitution
	cause       error
}

// stage is a kind of the steps by which a document is computed.
type stage uint8

const (
	whole     stage = iota // the cause is the fault
	acting                 // an action
	finding                // the document that a substitution reads
	reading                // the value in it
	taking                 // the part of it
	replacing              // the destination of a substitution
)

// Error returns the cause, which is not the message of the fault.
func (f *refusal) Error() string { return f.cause.Error() }

// notes are what is said about how a document was computed. They are kept with the result.
type notes struct {
	refusals         []refusal // the first of them
	warnings         []warning
	more, moreWarned int // that are not kept
}

// maxRefusals is the number of refusals of a document that are kept. All of them depend on secrets or none does, except
// that the first may be different, so these are enough for the faults that an outcome lists.
const maxRefusals = maxFaults + 1

// Memory of a refusal without the text of its cause, and of a warning.
const (
	refusalSize = 48
	causeSize   = 64
	noteSize    = 16
)

// memory is the memory of notes, in bytes.
func (s *notes) memory() int {
	size := refusalSize*len(s.refusals) + noteSize*len(s.warnings)
	for i := range s.refusals {
		if cause := s.refusals[i].cause; cause != nil {
			size += causeSize + len(cause.Error())
		}
	}
	return size
}

// refuse notes an error that keeps a document from being rendered, and returns nil, unless the error ends the
// rendering.
func (r *run) refuse(n *node, err error) error {
	if err == nil {
		return nil
	}
	why, ok := errors.AsType[*refusal](err)
	if f, isFault := errors.AsType[*fault.Fault](err); isFault && !ok {
		why, ok = &refusal{stage: whole, cause: f}, true
	}
	if !ok || r.err != nil || r.room < 0 {
		return err
	}
	r.charge(lookupCost)
	if len(n.refusals) == maxRefusals {
		n.more++
		return nil
	}
	n.refusals = append(n.refusals, *why)
	return nil
}

// reportNotes gives the outcome what is noted about a document.
func (r *run) reportNotes(n *node) {
	for _, w := range n.warnings {
		r.warn(n.secret, func() *fault.Fault { return r.warningFault(n, w) })
	}
	if n.moreWarned > 0 {
		r.charge(visitCost)
		_ = r.warnings.count(n.secret, n.moreWarned)
	}
	for i := range n.refusals {
		why := &n.refusals[i]
		secret := n.secret || why.stage == acting && n.origin().secret
		r.fail(n, secret, func() *fault.Fault { return r.faultOf(n, why) })
	}
	if n.more > 0 { // so many are kept that the others are only counted
		r.charge(visitCost)
		n.cause, n.failed = r.faults.count(n.secret, n.more), true
	}
}

// faultOf words a refusal.
func (r *run) faultOf(n *node, why *refusal) *fault.Fault {
	number := why.number
	if why.stage == acting {
		return r.actionFault(n, number, why.cause)
	}
	if why.stage == whole {
		f, _ := errors.AsType[*fault.Fault](why.cause)
		return f
	}
	source := r.source(n, number)
	switch why.stage { //nolint:exhaustive // the others are above
	case finding:
		return r.noSource(n, number)
	case reading:
		return r.noData(n, source, number, why.cause)
	case replacing:
		return r.destinationFault(n, source, number, why.destination, why.cause)
	}
	return r.substitutionFault(n, source, number, why.cause)
}

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

// warningFault returns a warning about a document as a fault. If the pattern of a source matches nothing, all of the
// text is taken; without that of a destination, nothing is changed.
func (r *run) warningFault(n *node, w warning) *fault.Fault {
	s, source := &n.substitutions[w.number], r.source(n, w.number)
	documents := []*node{n, source}
	if w.destination == ofSource {
		f := invalid("SourcePatternNotFound", documents,
			"The pattern %s matches nothing in the text at %s of document %s, so substitution %d of document %s takes "+
				"all of it",
			document.Quote(words.Excerpt(s.pattern)), words.Excerpt(s.written), source.Identity, w.number+1, n.Identity)
		f.Messages[0].Path = substitutionPath(w.number) + ".src.pattern"
		return f
	}
	d, where := &s.destinations[w.destination], "the text at"
	if d.recursive {
		where = "any text that is looked at below"
	}
	f := invalid("DocumentPatternNotFound", documents,
		"The pattern %s is not in %s %s of document %s, so substitution %d, from document %s, changes nothing",
		document.Quote(words.Excerpt(d.pattern)), where, words.Excerpt(d.written), n.Identity, w.number+1, source.Identity)
	f.Messages[0].Path = substitutionPath(w.number) + ".dest"
	return f
}
