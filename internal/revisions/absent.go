package revisions

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
)

// Truncate shortens a string to 64 bytes for use in a message.
func Truncate(id string) string {
	const longest = 64
	if len(id) > longest {
		return strings.ToValidUTF8(id[:longest], "") + "…"
	}
	return id
}

// UnknownRevision returns the NotFound fault for a revision that does not exist.
func UnknownRevision(id string) *fault.Fault {
	return fault.New(fault.NotFound, "RevisionNotFound", "The requested revision=%s was not found", Truncate(id))
}

// UnknownName returns the NotFound fault for a name that no revision can have.
func UnknownName(id string) error {
	return fault.New(fault.NotFound, "RevisionNotFound",
		"%w: a revision is named by its number, as latest, or as tag:NAME", UnknownRevision(id))
}

// neighbours describes what exists around a revision number.
type neighbours interface {
	Around(ctx context.Context, revision int64) (Neighbourhood, error)
}

// Absent returns the fault for a request for a missing revision: Gone if it was pruned, else NotFound.
func Absent(ctx context.Context, store neighbours, revision int64) error {
	id := strconv.FormatInt(revision, 10)
	around, err := store.Around(ctx, revision)
	switch {
	case err != nil:
		return fmt.Errorf("find what is around revision %d: %w", revision, err)
	case around.Exists || revision < 1:
		return UnknownRevision(id)
	case around.Revision == 0:
		return UnknownRevision(id).Hint("There is no revision yet; the first change makes one.")
	case revision > around.Revision:
		return UnknownRevision(id).Hint("The newest revision is %d.", around.Revision).
			RequestHint("GET /revisions lists all.")
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

// Explained replaces a store's NotFound fault for a revision with the fault that Absent returns.
func Explained(ctx context.Context, store neighbours, revision int64, err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return Absent(ctx, store, revision)
	}
	return err
}

// UnknownTag returns the fault for a tag that a revision does not have.
func UnknownTag(revision int64, name string) error {
	return fault.New(fault.NotFound, "RevisionTagNotFound", "The requested tag '%s' for revision %d was not found", name,
		revision).RequestHint("GET /revisions/%d/tags lists the tags that it has.", revision)
}

// MayNotDelete returns the fault for a caller who may not store encrypted documents but tries to delete some. It names
// the document id and counts the others as more.
func MayNotDelete(id document.Identity, more int) error {
	others := ""
	if more > 0 {
		others = fmt.Sprintf(", like %d more", more)
	}
	return fault.New(fault.Forbidden, "HTTPForbidden", "Document %s is encrypted%s: only callers with "+
		"deckhand:create_encrypted_documents may replace or delete it. Nothing was changed.", id, others).
		Lacking(authz.CreateEncryptedDocuments)
}
