package rendering

import (
	"errors"
	"fmt"
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// invalid returns the fault of documents that do not render as they are. The class and text are the reference's, where
// it has them.
func invalid(errorType string, documents []*node, format string, args ...any) *fault.Fault {
	return about(fault.New(fault.Invalid, errorType, format, args...), documents...)
}

// invalidBecause is a refusal that also has its reason in a separate field.
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
		message.Documents = append(message.Documents, n.named())
	}
	message.Secret = f.Secret
	f.Messages = []fault.Message{message}
	return f
}

// maxFaults is the number of faults that are kept: of those that depend on encrypted documents, and of the others.
const maxFaults = 200

// faults are the reasons why documents do not render, in the order in which they are found. Secret ones are counted
// separately, so that the number of the others reveals nothing about them.
type faults struct {
	kept         []*fault.Fault
	open, secret others
}

// others are the faults that are not kept.
type others struct {
	kept, count int
	fault       *fault.Fault // stands for them
}

// keep keeps a fault. It returns the one that stands for it: itself, or the one of those that are not kept.
func (f *faults) keep(found *fault.Fault) *fault.Fault {
	if f.full(found.Secret) {
		return f.count(found.Secret, 1)
	}
	f.of(found.Secret).kept++
	f.kept = append(f.kept, found)
	return found
}

func (f *faults) of(secret bool) *others {
	if secret {
		return &f.secret
	}
	return &f.open
}

// full reports whether no more faults are kept that depend on encrypted documents, or of the others.
func (f *faults) full(secret bool) bool { return f.of(secret).kept == maxFaults }

// count counts faults that are not kept, and returns the one that stands for them.
func (f *faults) count(secret bool, number int) *fault.Fault {
	others := f.of(secret)
	if others.count += number; others.fault == nil {
		others.fault = fault.New(fault.Invalid, MoreErrors,
			"The document does not render; its error is not among the first %d", maxFaults)
		others.fault.Secret = secret
		others.fault = about(others.fault)
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

// MoreErrors is the type of the fault that stands for those that are not kept.
const MoreErrors = "MoreErrors"

// all returns the faults, at the end the numbers of those that were not kept.
func (f *faults) all() []*fault.Fault {
	all := slices.Clone(f.kept)
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

// faultCost is the cost of a fault, in steps.
const faultCost = 3000

// record records a fault, and returns the one that stands for it.
func (s *relationSet) record(f *fault.Fault) *fault.Fault {
	s.charge(faultCost)
	return s.faults.keep(f)
}

// fail records a fault of a document, which it words only if it is kept.
func (s *relationSet) fail(n *node, secret bool, word func() *fault.Fault) {
	if !s.failUnlisted(n, secret, 1) {
		n.cause, n.failed = s.record(word()), true
	}
}

// failUnlisted records faults of a document that are only counted, because enough are kept, and reports whether so
// many are.
func (s *relationSet) failUnlisted(n *node, secret bool, number int) bool {
	if s.charge(visitCost); !s.faults.full(secret) {
		return false
	}
	n.cause, n.failed = s.faults.count(secret, number), true
	return true
}

// named is how faults name the document to programs.
func (n *node) named() fault.Document {
	return fault.Document{Schema: n.Schema, Name: n.Name, Layer: n.Layer, Encrypted: n.encrypted}
}

// substitutionPath returns the path of a substitution in a document's metadata.
func substitutionPath(number int) string { return fmt.Sprintf(".metadata.substitutions.%d", number) }

// noSource returns the fault of a substitution with a missing or abstract source.
func (s *relationSet) noSource(n *node, number int) *fault.Fault {
	source, details := n.substitutions[number].source, ""
	if !s.compat {
		details = s.sources[source].details()
	}
	f := about(fault.New(fault.Conflict, "SubstitutionSourceNotFound",
		"Required substitution source document [%s] %s was not found, yet is referenced by %s%s",
		source.Schema, source.Name, n.brief(), details), n)
	if !s.compat {
		f.Messages[0].Path = substitutionPath(number) + ".src"
	}
	return f
}

// ParentNotFound is the type of faults about selectors that select nothing.
const ParentNotFound = "DocumentParentNotFound"

// orphanFault returns the fault of a document's selector that selects nothing. The reference renders the document as if it
// had no selector.
func orphanFault(n *node) *fault.Fault {
	f := invalid(ParentNotFound, []*node{n},
		"The parentSelector of document %s selects no document, so it inherits nothing", n.Identity)
	f.Secret, f.Messages[0].Secret = n.encrypted, n.encrypted // it does not depend on what is substituted
	return f
}

// stoppedAt returns the error that stops the work on a document, nil if it may go on; doing names the part that was
// worked on.
func stoppedAt(m *meter, n *node, doing string) error {
	err := m.check()
	if err == nil {
		return nil
	}
	if m.isConfined() && budget.IsAlone(err) { // a fault of the document, and not of the request
		return about(document.TooLarge("render document %s%s: %s, the limit for its size and that of its sources; "+
			"simplify it", n.Identity, doing, err.Error()), n)
	}
	err = budget.About(err, "render document %s%s", n.Identity, doing)
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Kind == fault.TooLarge {
		return about(f, n)
	}
	return fmt.Errorf("render documents: %w", err)
}
