package revisions

import (
	"fmt"

	"purser/internal/document"
	"purser/internal/fault"
)

// MayNotDelete is the fault of deleting encrypted documents, of which it names one, for a caller who may not store any
// (spec/api.md §0 D25).
func MayNotDelete(id document.Identity, more int) error {
	others := ""
	if more > 0 {
		others = fmt.Sprintf(", like %d more", more)
	}
	return fault.New(fault.Forbidden, "HTTPForbidden", "Document %s is encrypted%s: only callers with "+
		"deckhand:create_encrypted_documents may replace or delete it. Nothing was changed.", id, others)
}

// deleting returns the options of a deletion: with Compat, nobody needs to be allowed to store encrypted documents.
func (s *Service) deleting(options Options) Options {
	options.CleartextOnly = options.CleartextOnly && !s.Compat
	return options
}
