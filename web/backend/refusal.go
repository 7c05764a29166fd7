package backend

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"purser/internal/wire"
	"purser/internal/words"
)

// Refusal is an error answer of the API, or an error that a page shows like one.
type Refusal struct {
	Status  int
	Message string
	Header  http.Header

	messages []detail
}

// detail is one of several messages of an error.
type detail struct {
	Message   string          `json:"message"`
	Documents []wire.Identity `json:"documents"` // that the message is about
}

// String returns the message, with the document that it is about unless the message names it.
func (d detail) String() string {
	if len(d.Documents) != 1 || strings.Contains(d.Message, "] "+d.Documents[0].Name) {
		return d.Message
	}
	return d.Documents[0].String() + ": " + d.Message
}

// Error implements error. Several messages are sentences.
func (r *Refusal) Error() string {
	var parts []string
	if r.Message != "" {
		parts = append(parts, r.Message)
	}
	for _, d := range r.messages {
		switch n := len(parts); {
		case d.Message == "":
		case n == 1 && parts[0] == r.Message && strings.HasPrefix(d.Message, r.Message): // more, or with its document
			parts[n-1] = d.String()
		default:
			parts = append(parts, d.String())
		}
	}
	switch len(parts) {
	case 0:
		return http.StatusText(r.Status)
	case 1:
		return parts[0]
	}
	for i, part := range parts {
		parts[i] = words.Ended(part)
	}
	return strings.Join(parts, " ")
}

// RefusedWith reports whether an error is a refusal with one of the status codes.
func RefusedWith(err error, codes ...int) bool {
	refused, ok := errors.AsType[*Refusal](err)
	if !ok {
		return false
	}
	return slices.Contains(codes, refused.Status)
}

// Serious drops errors about parts that a page can do without: those that the user may not see, those that do not
// exist, and those that cannot be made from the documents.
func Serious(err error) error {
	if RefusedWith(err, http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusBadRequest,
		http.StatusConflict, http.StatusRequestEntityTooLarge) {
		return nil
	}
	return err
}
