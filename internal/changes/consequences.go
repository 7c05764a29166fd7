package changes

import (
	"fmt"
	"iter"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// unjudged is a document that is neither rendered nor checked, because of an error of its own or of another one.
type unjudged struct {
	*revisions.Stored

	cause  *fault.Fault
	secret bool // the document, or the way from it to the cause, is secret
	failed bool // the error is its own
}

// maxNamed is the number of documents that a message names.
const maxNamed = 10

// consequences returns messages that name the documents that are not judged because of others' errors, one for each
// error and, for secret documents, another one. A message has the type and the place of the error.
func consequences(all []unjudged) warnings {
	type reason struct {
		cause  *fault.Fault
		secret bool
	}
	of, order := map[reason][]unjudged{}, []reason(nil)
	for _, doc := range all {
		if doc.failed {
			continue
		}
		why := reason{doc.cause, doc.secret || doc.cause.Secret}
		if _, known := of[why]; !known {
			order = append(order, why)
		}
		of[why] = append(of[why], doc)
	}
	word := func(why reason) fault.Message {
		warning := fault.Message{
			Name: why.cause.Type, Level: fault.Info, Kind: fault.WarningKind, Secret: why.secret,
			Message: fmt.Sprintf("Not checked, because %s: %s", reasonOf(why.cause), namesOf(of[why])),
		}
		if said := why.cause.Messages[0]; len(said.Documents) > 0 {
			warning.Documents, warning.Path = said.Documents[:1], said.Path
		}
		return warning
	}
	return func(yield func(bool, func() fault.Message) bool) {
		for _, why := range order {
			if !yield(why.secret, func() fault.Message { return word(why) }) {
				return
			}
		}
	}
}

// reasonOf names an error.
func reasonOf(f *fault.Fault) string {
	switch about := f.Messages[0].Documents; {
	case f.Type == rendering.MoreErrors:
		return "of errors that are not listed"
	case len(about) == 0:
		return "of the error " + f.Type
	default:
		id := document.Identity{Schema: about[0].Schema, Layer: about[0].Layer, Name: about[0].Name}
		return fmt.Sprintf("document %s fails (%s)", id, f.Type)
	}
}

// namesOf names the first documents, and counts the others.
func namesOf(documents []unjudged) string {
	var names []string
	for _, doc := range documents[:min(maxNamed, len(documents))] {
		names = append(names, doc.Identity.String())
	}
	text := "document"
	if len(documents) > 1 {
		text = fmt.Sprintf("%d documents:", len(documents))
	}
	text += " " + strings.Join(names, ", ")
	if more := len(documents) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// combined returns one fault of several: the first, with the messages of all, each with the type of its error.
func combined(faults []*fault.Fault) *fault.Fault {
	if len(faults) == 1 {
		return faults[0]
	}
	all := *faults[0]
	all.Messages = nil
	for _, f := range faults {
		all.Messages = append(all.Messages, MessagesOf(f)...)
	}
	return &all
}

// unusable returns the error of a DataSchema that keeps documents from being checked. why is its first finding.
func unusable(schema *revisions.Stored, why validations.Finding) *fault.Fault {
	f := fault.New(fault.Invalid, invalidFormat, "DataSchema %s cannot be used", schema.Name)
	f.Secret = schema.Traits().Encrypted
	f.Messages = []fault.Message{{Documents: []fault.Document{documentOf(schema)}, Path: pathOf(why)}}
	return f
}

func documentOf(doc *revisions.Stored) fault.Document {
	return fault.Document{Schema: doc.Schema, Name: doc.Name, Layer: doc.Layer, Encrypted: doc.Traits().Encrypted}
}

// maxWarnings is the number of warnings of a rendering that are kept: of those that depend on secrets, and of the
// others.
const maxWarnings = 100

// warnings are messages by whether they depend on secrets. Those that are kept are worded.
type warnings = iter.Seq2[bool, func() fault.Message]

// worded returns warnings that are worded already.
func worded(list []fault.Message) warnings {
	return func(yield func(bool, func() fault.Message) bool) {
		for _, warning := range list {
			if !yield(warning.Secret, func() fault.Message { return warning }) {
				return
			}
		}
	}
}

// first returns the first warnings of some lists, and the number of the others.
func first(lists ...warnings) (kept []fault.Message) {
	count := map[bool]int{}
	for _, list := range lists {
		for secret, word := range list {
			if count[secret]++; count[secret] <= maxWarnings {
				kept = append(kept, word())
			}
		}
	}
	for _, secret := range []bool{false, true} {
		if more := count[secret] - maxWarnings; more > 0 {
			kept = append(kept, fault.Message{
				Message: fmt.Sprintf("More warnings, not shown: %d", more),
				Level:   "Warning", Kind: fault.WarningKind, Secret: secret,
			})
		}
	}
	return kept
}
