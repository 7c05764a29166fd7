package authz

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"purser/internal/fault"
	"purser/internal/words"
)

// Viewer describes which parts of encrypted documents a caller may see. Every answer is made for a Viewer. The zero
// Viewer sees the least: of secrets, its answers reveal only whether something that depends on one fails, so they may
// be stored and logged.
type Viewer struct {
	Encrypted bool // may see encrypted documents
	Redacted  bool // asked for hashes in place of secrets
}

// Secrets reports whether the viewer is shown secrets and messages that depend on them.
func (v Viewer) Secrets() bool { return v.Encrypted && !v.Redacted }

// Withheld replaces messages that the viewer may not see.
const Withheld = "Something fails that depends on an encrypted document or on what was taken from one: only callers " +
	"who may see encrypted documents are told what, and why"

// The texts that earlier versions stored instead of Withheld.
const (
	WithheldBefore = "It fails, and only callers who may see encrypted documents are told why: an encrypted " +
		"document, or what was taken from one, has a part in it"
	withheldNaming = "A check or the rendering fails, and only callers who may see encrypted documents are told why: an " +
		"encrypted document, or what was taken from one, has a part in it"
)

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
	return slices.Contains([]string{Withheld, Unasked, withheldNaming, WithheldBefore}, message)
}

// Messages returns messages as the viewer may see them. Secret ones are merged into one at the end. It names no
// document: callers who write documents that fail for different secrets could read a secret from such names. Only for
// viewers who may see encrypted documents, and asked not to, it lists the failing ones that are not encrypted.
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
	merged := fault.Message{
		Message: v.Withheld(), Error: true, Level: "Error", Kind: "ValidationMessage", Secret: true,
		Documents: []fault.Document{},
	}
	if !v.Encrypted {
		return append(shown, merged)
	}
	failing = slices.DeleteFunc(failing, func(doc fault.Document) bool { return doc.Encrypted })
	slices.SortFunc(failing, func(a, b fault.Document) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Layer, b.Layer))
	})
	merged.Documents = slices.Compact(failing)
	return append(shown, merged)
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
		withheld = []fault.Message{summary}
		if listed, more := First(summary.Documents); more > 0 {
			withheld[0].Documents = listed
			unnamed := fault.Message{Error: true, Level: summary.Level, Kind: summary.Kind}
			unnamed.Message = moreDocuments + strconv.Itoa(more)
			withheld = append(withheld, unnamed)
		}
		shown = shown[:last]
	}
	if listed, more := firstOf(shown, sizeOf); more > 0 {
		number := 0
		for _, message := range shown[len(listed):] {
			number += max(message.Unlisted, 1) + message.More
		}
		shown, others = listed, []fault.Message{fault.Unlisted(number)}
	}
	return slices.Concat(shown, others, withheld)
}

// First returns the first items of a list that an answer may have, and the number of the others.
func First[T any](list []T) (first []T, more int) {
	return firstOf(list, func(item *T) int {
		text, _ := json.Marshal(item) // which the answer does too, and fails if it cannot
		return len(text)
	})
}

// firstOf is First for items of about so many bytes.
func firstOf[T any](list []T, size func(*T) int) (first []T, more int) {
	n, total := 0, 0
	for ; n < min(len(list), MaxListed); n++ {
		if total += size(&list[n]); total > maxListedBytes && n > 0 {
			break
		}
	}
	return list[:n], len(list) - n
}

// sizeOf returns about how many bytes a message takes as JSON text.
func sizeOf(m *fault.Message) int {
	const keys, perDocument = 300, 100
	size := keys + len(m.Message) + len(m.Path) + len(m.File)
	for _, doc := range m.Documents {
		size += perDocument + len(doc.Schema) + len(doc.Layer) + len(doc.Name)
	}
	parts, _ := m.Diagnostic.(map[string]any)
	for _, part := range parts {
		switch part := part.(type) {
		case json.RawMessage:
			size += len(part)
		case string:
			size += len(part)
		}
	}
	if text, isText := m.Diagnostic.(string); isText {
		size += len(text)
	}
	return size
}

// moreDocuments begins a message that counts documents that a replacement for messages does not list.
const moreDocuments = "More documents, not listed: "

// CountsWithheld reports whether a message of Listed counts the documents that a replacement for messages does not
// list.
func CountsWithheld(message string) bool { return strings.HasPrefix(message, moreDocuments) }

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
	shown.NothingStored = f.NothingStored
	if f.Secret {
		shown.Message = v.Withheld()
	} else {
		shown.Reason = f.Reason
	}
	shown.RetryAfter, shown.Messages = f.RetryAfter, v.Listed(f.Messages)
	return shown
}
