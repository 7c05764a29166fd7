package rendering

import (
	"errors"

	"purser/internal/fault"
)

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
