package rendering

import (
	"fmt"

	"purser/internal/document"
	"purser/internal/fault"
)

// refuse is the fault of documents that do not render as they are: the class and text are the reference's, where it has
// them.
func refuse(errorType string, documents []*node, format string, args ...any) *fault.Fault {
	return about(fault.New(fault.Invalid, errorType, format, args...), documents...)
}

// refuseReason is a refusal that also has its reason in a separate field (spec/rendering.md §4, §5).
func refuseReason(errorType, reason string, documents []*node, format string, args ...any) *fault.Fault {
	f := refuse(errorType, documents, format+" Reason: %s", append(args, reason)...)
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

// in says where in the first document a fault is, which the reference does not.
func (r *run) in(path string, f *fault.Fault) *fault.Fault {
	if !r.options.Compat {
		f.Messages[0].Path = path
	}
	return f
}

// substitutionOf and actionOf return paths of entries in a document's metadata.
func substitutionOf(number int) string { return fmt.Sprintf(".metadata.substitutions.%d", number) }

func actionOf(number int) string {
	return fmt.Sprintf(".metadata.layeringDefinition.actions.%d", number)
}

// named is how faults name the document to programs.
func (n *node) named() fault.Document {
	return fault.Document{Schema: n.Schema, Name: n.Name, Layer: n.Layer, Encrypted: n.encrypted}
}

// kindOf describes the type of a value without the value, which may be secret.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case document.Number:
		return "a number"
	case string:
		return "a string"
	case []any, *array:
		return "a list"
	}
	return "a mapping"
}
