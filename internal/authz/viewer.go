package authz

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/fault"
	"purser/internal/words"
)

// Viewer describes which parts of encrypted documents a caller may see. Every answer is made for a Viewer. The zero
// Viewer sees the least: its answers reveal only which documents fail, no secrets, so they may be stored and logged.
type Viewer struct {
	Encrypted bool // may see encrypted documents
	Redacted  bool // asked for hashes in place of secrets
}

// Secrets reports whether the viewer is shown secrets and messages that depend on them.
func (v Viewer) Secrets() bool { return v.Encrypted && !v.Redacted }

// Withheld replaces messages that the viewer may not see.
const Withheld = "A check or the rendering fails, and only callers who may see encrypted documents are told why: an " +
	"encrypted document, or what was taken from one, has a part in it"

// WithheldBefore is the text that earlier versions stored instead of Withheld.
const WithheldBefore = "It fails, and only callers who may see encrypted documents are told why: an encrypted " +
	"document, or what was taken from one, has a part in it"

// Unasked replaces messages that the viewer may see but asked not to be shown.
const Unasked = "A check or the rendering fails, and the reason is left out, as was asked for, because an encrypted " +
	"document, or what was taken from one, has a part in it: to see it, ask with cleartext-secrets=true, run \"purser " +
	"findings\", or choose \"Show secrets\" on the page of a document"

// Withheld returns the replacement for messages that depend on secrets.
func (v Viewer) Withheld() string {
	if v.Encrypted {
		return Unasked
	}
	return Withheld
}

// IsWithheld reports whether a message is a replacement for messages that depend on secrets.
func IsWithheld(message string) bool {
	return message == Withheld || message == WithheldBefore || message == Unasked
}

// Messages returns messages as the viewer may see them. Secret ones are merged into one that lists the failing
// documents except encrypted ones, so that their number and order reveal nothing.
func (v Viewer) Messages(messages []fault.Message) (shown []fault.Message) {
	var failing []fault.Document
	secret := false
	for _, message := range messages {
		switch {
		case v.Secrets():
			message.Secret = false
			shown = append(shown, message)
		case message.Secret:
			secret = true
			failing = append(failing, message.Documents...)
		default:
			shown = append(shown, message)
		}
	}
	if !secret {
		return shown
	}
	failing = slices.DeleteFunc(failing, func(doc fault.Document) bool { return doc.Encrypted })
	slices.SortFunc(failing, func(a, b fault.Document) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Layer, b.Layer))
	})
	return append(shown, fault.Message{
		Message: v.Withheld(), Error: true, Level: "Error", Kind: "ValidationMessage",
		Documents: slices.Compact(failing), Secret: true,
	})
}

// MaxListed is the number of messages that an answer lists, and of documents that one of them lists.
const MaxListed = 1000

// Bounds of what an answer lists and of one message, in bytes.
const (
	maxListedBytes = 4 << 20
	maxMessage     = 64 << 10
)

// Listed is Messages for an answer: the first MaxListed of them, or those that fit into 4 MiB, and the number of the
// others.
func (v Viewer) Listed(messages []fault.Message) []fault.Message {
	shown := v.Messages(messages)
	for i := range shown {
		shown[i].Message = words.FirstBytes(shown[i].Message, maxMessage)
	}
	var withheld, others []fault.Message
	if last := len(shown) - 1; last >= 0 && shown[last].Secret {
		summary := shown[last]
		summary.Documents, others = First(summary.Documents, "documents")
		shown, withheld = shown[:last], append([]fault.Message{summary}, others...)
	}
	shown, others = First(shown, "errors")
	return slices.Concat(shown, others, withheld)
}

// First returns the first items of a list that an answer may have, and a message with the number of the others if there
// are any.
func First[T any](list []T, what string) ([]T, []fault.Message) {
	n, size := 0, 0
	for ; n < min(len(list), MaxListed); n++ {
		text, err := json.Marshal(list[n])
		if size += len(text); err == nil && size > maxListedBytes && n > 0 {
			break
		}
	}
	if n == len(list) {
		return list, nil
	}
	return list[:n], []fault.Message{{
		Message: Others(what, len(list)-n), Error: true, Level: "Error", Kind: "ValidationMessage",
	}}
}

// Others returns the text that stands for the errors, or others of what, that an answer does not list.
func Others(what string, count int) string {
	return fmt.Sprintf("More %s, not listed: %d", what, count)
}

// Unlisted returns the number of errors that a message of Listed stands for, 0 if it is an error itself.
func Unlisted(message string) int {
	digits, ok := strings.CutPrefix(message, "More errors, not listed: ")
	count, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return 0
	}
	return count
}

// Warnings returns warnings as the viewer may see them. It omits secret ones without a trace: unlike an error, a
// warning need not make a document fail, so its existence is secret, too.
func (v Viewer) Warnings(warnings []fault.Message) (shown []fault.Message) {
	for _, warning := range warnings {
		if v.Secrets() || !warning.Secret {
			warning.Secret = false
			shown = append(shown, warning)
		}
	}
	return shown
}

// Fault returns a fault as the viewer may see it.
func (v Viewer) Fault(f *fault.Fault) *fault.Fault {
	if v.Secrets() || !f.Secret && !slices.ContainsFunc(f.Messages, func(m fault.Message) bool { return m.Secret }) {
		shown := *f
		shown.Messages = v.Listed(f.Messages)
		return &shown
	}
	shown := fault.New(f.Kind, f.Type, "%s", f.Message)
	if f.Secret {
		shown.Message = v.Withheld()
	} else {
		shown.Reason = f.Reason
	}
	shown.RetryAfter, shown.Messages = f.RetryAfter, v.Listed(f.Messages)
	return shown
}
