package queries

import (
	"context"
	"fmt"

	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// maxRead limits the bytes of documents that are read at a time.
const maxRead = 4 << 20

// Documents returns the documents of a revision that match a selection. If they are large, it reads only the first, and
// Each reads the others. Faults: NotFound, Gone.
func (v View) Documents(ctx context.Context, id int64, selection Selection) (Selected, error) {
	if selection.Search != "" {
		return v.search(ctx, id, selection)
	}
	wanted := selection
	wanted.Cleartext = !v.viewer.Encrypted
	wanted.MaxBytes, wanted.Shared = maxRead, !v.viewer.Redacted
	if selection.Limit >= 0 {
		wanted.Limit++ // one more than wanted, to see whether there are more
	}
	selected, err := v.store.Documents(ctx, id, wanted)
	if err != nil {
		return Selected{}, v.readError(ctx, id, "documents", err)
	}
	return v.redacted(selected.first(selection.Limit)), nil
}

// redacted returns selected documents as the viewer sees them.
func (v View) redacted(selected Selected) Selected {
	if v.viewer.Redacted {
		selected.Documents = changes.Redacted(selected.Documents)
	}
	return selected
}

// Each calls do for the selected documents, some at a time, reading documents that are not cached on the way. It holds
// at most 4 MiB of these, for which it needs no permit. Fault: Gone if they are deleted meanwhile.
func (v View) Each(ctx context.Context, selected Selected, do func(documents []*revisions.Stored) error) error {
	budget.Yield(ctx) // do may wait for a slow client
	ctx = budget.Exempt(ctx)
	if err := do(selected.Documents); err != nil {
		return err
	}
	return v.rest(ctx, selected, func(doc *revisions.Stored) error { return do([]*revisions.Stored{v.seen(doc)}) })
}

// rest calls do for the selected documents that have not been read yet, in their stored form.
func (s *Service) rest(ctx context.Context, selected Selected, do func(*revisions.Stored) error) error {
	for rest := selected.Rest; len(rest) > 0; {
		var ids []int64
		size := 0
		for len(rest) > 0 && (size == 0 || size+rest[0].Size <= maxRead) {
			ids, size, rest = append(ids, rest[0].ID), size+rest[0].Size+1, rest[1:]
		}
		found, err := s.store.Versions(ctx, selected, ids, do)
		switch {
		case err != nil:
			return fmt.Errorf("read documents: %w", err)
		case found < len(ids):
			return fault.New(fault.Gone, "RevisionPruned", "The revision was deleted while it was being read")
		}
	}
	return nil
}

// Of returns the documents of a list that are on the page.
func (p Page) Of(documents []*revisions.Stored) Selected {
	from, to := p.window(0, len(documents))
	return Selected{Documents: documents[from:to], More: to < len(documents)}
}

// window returns the part of a list of n items that is on the page, if before items precede the list.
func (p Page) window(before, n int) (from, to int) {
	from = min(max(p.Offset-before, 0), n)
	if p.Limit < 0 {
		return from, n
	}
	left := max(p.Limit-max(before-p.Offset, 0), 0) // on the page, after the items that precede the list
	return from, from + min(left, n-from)
}

// Stamp returns the stamp of a revision. Faults: NotFound, Gone.
func (v View) Stamp(ctx context.Context, id int64) (revisions.Stamp, error) {
	around, err := v.around(ctx, id)
	return around.Stamp, err
}

// around describes what exists around a revision. Faults: NotFound or Gone if it does not exist.
func (s *Service) around(ctx context.Context, id int64) (revisions.Neighbourhood, error) {
	around, err := s.store.Around(ctx, id)
	switch {
	case err != nil:
		return around, fmt.Errorf("find revision %d: %w", id, err)
	case !around.Exists:
		return around, revisions.Absent(ctx, s.store, id)
	}
	return around, nil
}

// Selection filters and sorts the documents of a revision. A nil filter passes all documents; any other passes
// documents with one of its values, so an empty one passes none.
type Selection struct {
	Schemas   []string // full schemas, namespace/kind or namespace
	Names     []string
	Layers    []string
	Buckets   []string
	Abstract  []bool
	Labels    []Label // all of these
	Search    string  // text in the name, a label or a value; only for Documents
	Searched  int     // number of documents that earlier searches have looked at; only with Search
	NoPolicy  bool    // omit ValidationPolicies
	Cleartext bool    // omit encrypted documents; set by a View
	Sort      []SortKey
	Backwards bool
	MaxBytes  int  // only outline documents once those read exceed it; 0 for no limit
	Shared    bool // MaxBytes ignores cached documents, because the caller copies none of them
	// Among restricts a selection to so many of the documents that match, in the order in which they were added, after
	// Searched others; 0 does not.
	Among int
	Page
}

// IsWhole reports whether a selection, apart from its page, has all documents of a revision in their order.
func (s Selection) IsWhole() bool {
	return !s.restricts() && s.Abstract == nil && s.Search == "" && !s.Cleartext && !s.Backwards
}

// Label is a label with its value.
type Label struct{ Key, Value string }

// Query filters and sorts revisions.
type Query struct {
	Tags      []string         // any of these; nil for all
	Source    revisions.Source // that they were made from; "" for any
	Commit    string           // that their sources name, or what its id begins with; "" for any
	Sort      []SortKey
	Backwards bool
	Page
}

// Page is a part of a list.
type Page struct {
	Offset int
	Limit  int // negative for no limit
}

// SortKey is a property that a list can be sorted by.
type SortKey uint8

// The sort keys. All apply to documents, the first two also to revisions.
const (
	ByNumber SortKey = iota // the ID
	ByTime                  // of creation
	BySchema
	ByName
	ByLayer
	ByAbstract
	ByBucket
	ByRevision // in which the document was added
)

// restricts reports whether a selection, apart from its page, omits or reorders rendered documents.
func (s Selection) restricts() bool {
	return s.Schemas != nil || s.Names != nil || s.Layers != nil || s.Buckets != nil || s.Labels != nil || s.NoPolicy ||
		len(s.Sort) > 0
}
