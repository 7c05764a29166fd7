package revisions

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
)

// Truncate shortens what a message quotes to 64 bytes.
func Truncate(id string) string {
	const longest = 64
	if len(id) > longest {
		return strings.ToValidUTF8(id[:longest], "") + "…"
	}
	return id
}

// UnknownRevision is the fault of asking for a revision that does not exist.
func UnknownRevision(id string) error {
	return fault.New(fault.NotFound, "RevisionNotFound", "The requested revision=%s was not found", Truncate(id))
}

// neighbours describes what exists around a revision number.
type neighbours interface {
	Around(ctx context.Context, revision int64) (Neighbourhood, error)
}

// Absent returns the fault of asking for a revision that does not exist: NotFound, or Gone if it was pruned.
func Absent(ctx context.Context, store neighbours, revision int64) error {
	id := strconv.FormatInt(revision, 10)
	around, err := store.Around(ctx, revision)
	switch {
	case err != nil:
		return fmt.Errorf("find what is around revision %d: %w", revision, err)
	case around.Exists || revision > around.Revision || revision < 1:
		return UnknownRevision(id)
	}
	left := "the next one that is left is " + strconv.FormatInt(around.Next, 10)
	metadata := map[string]any{"next": around.Next}
	if around.Previous > 0 {
		left = fmt.Sprintf("the nearest that are left are %d and %d", around.Previous, around.Next)
		metadata["previous"] = around.Previous
	}
	pruned := fault.New(fault.Gone, "RevisionPruned", "The requested revision=%s was pruned; %s", id, left)
	pruned.Metadata = metadata
	return pruned
}

// Explained turns the fault of a revision that a store did not find into that of Absent.
func Explained(ctx context.Context, store neighbours, revision int64, err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return Absent(ctx, store, revision)
	}
	return err
}

// UnknownTag is the fault of a tag that a revision does not have.
func UnknownTag(revision int64, name string) error {
	return fault.New(fault.NotFound, "RevisionTagNotFound", "The requested tag '%s' for revision %d was not found", name,
		revision)
}

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
