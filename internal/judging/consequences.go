package judging

import (
	"fmt"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering"
	"purser/internal/revisions"
)

// unjudged is a document that is neither rendered nor checked, because of an error of another one.
type unjudged struct {
	document.Identity

	cause  *fault.Fault
	secret bool // the document, or the way from it to the cause, is secret
}

// Bounds of the warnings about documents that are not judged: on their number, once for secret ones, and on the names
// in each.
const maxCauses, maxNamed = 100, 10

// consequences returns warnings that name the documents that are not judged because of others' errors, one for each
// error and, for secret documents, another one. It has the place of the error.
func consequences(all []unjudged) (warnings []fault.Message) {
	type reason struct {
		cause  *fault.Fault // nil for all that are not listed
		secret bool
	}
	of, order, causes := map[reason][]unjudged{}, []reason(nil), map[bool]int{}
	for _, doc := range all {
		why := reason{doc.cause, doc.secret || doc.cause.Secret}
		if _, known := of[why]; !known && causes[why.secret] == maxCauses {
			why.cause = nil
		}
		if _, known := of[why]; !known {
			order = append(order, why)
			causes[why.secret]++
		}
		of[why] = append(of[why], doc)
	}
	for _, why := range order {
		warning := fault.Message{Level: "Warning", Kind: rendering.WarningKind, Secret: why.secret}
		because := "of errors that are not listed"
		if cause := why.cause; cause != nil && cause.Type != "" {
			because, warning.Name = "of "+cause.Type, cause.Type
			if said := cause.Messages[0]; len(said.Documents) > 0 {
				warning.Documents, warning.Path = said.Documents[:1], said.Path
				because = "document " + identityOf(said.Documents[0]).String() + " fails (" + cause.Type + ")"
			}
		}
		warning.Message = fmt.Sprintf("Not judged, because %s: %s", because, namesOf(of[why]))
		warnings = append(warnings, warning)
	}
	return warnings
}

func identityOf(named fault.Document) document.Identity {
	return document.Identity{Schema: named.Schema, Layer: named.Layer, Name: named.Name}
}

// namesOf names the first documents, and counts the others.
func namesOf(documents []unjudged) string {
	var names []string
	for _, doc := range documents[:min(maxNamed, len(documents))] {
		names = append(names, doc.String())
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

// unusable returns the error of a DataSchema that keeps documents from being checked.
func unusable(schema *revisions.Stored) *fault.Fault {
	f := fault.New(fault.Invalid, invalidFormat, "DataSchema %s cannot be used", schema.Name)
	f.Secret = schema.Traits().Encrypted
	f.Messages = []fault.Message{{Documents: []fault.Document{{Schema: schema.Schema, Name: schema.Name, Layer: schema.Layer}}}}
	return f
}
