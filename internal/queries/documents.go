package queries

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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
	wanted := v.restricted(selection)
	wanted.MaxBytes, wanted.Shared = maxRead, !v.viewer.Redacted
	if selection.Limit >= 0 {
		wanted.Limit++ // one more than wanted, to see whether there are more
	}
	selected, err := v.store.Documents(ctx, id, wanted)
	if err != nil {
		return Selected{}, fmt.Errorf("read documents: %w", revisions.Explained(ctx, v.store, id, err))
	}
	return v.redacted(selected.first(selection.Limit)), nil
}

// restricted restricts a selection to documents that the viewer may see.
func (v View) restricted(selection Selection) Selection {
	selection.Cleartext = !v.viewer.Encrypted
	return selection
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

// Rendered returns the rendered documents of a revision that match a selection, without a sort key in the order of
// rendering. The selection does not affect how they are rendered, and hides no faults of the others. Faults: NotFound,
// Gone; those of rendering; Invalid, with D002, if a document does not match its schema.
func (v View) Rendered(ctx context.Context, id int64, selection Selection) (Selected, error) {
	around, err := v.around(ctx, id)
	if err != nil {
		return Selected{}, err
	}
	key := changes.RenderKey{Revision: id, Stamp: around.Stamp, Cleartext: !v.viewer.Encrypted}
	if around.Live >= manyDocuments && selection.restricts() {
		if documents, known, err := v.renderedApart(ctx, key, selection); err != nil || known {
			selected := v.redacted(selection.Of(documents))
			selected.Stamp = key.Stamp
			return selected, err
		}
	}
	rendered, err := v.rendered(ctx, key)
	if err != nil {
		return Selected{}, err
	}
	if rendered.Fault != nil {
		return Selected{}, rendered.Fault
	}
	documents := rendered.Documents
	if selection.restricts() {
		if documents, err = v.selectRendered(ctx, id, v.restricted(selection), documents); err != nil {
			return Selected{}, err
		}
	}
	selected := v.redacted(selection.Of(documents))
	selected.Stamp, selected.Provisional = key.Stamp, rendered.Provisional
	return selected, nil
}

// selectRendered returns the rendered documents of a revision that match a selection, in its order.
func (s *Service) selectRendered(ctx context.Context, id int64, selection Selection, rendered []*revisions.Stored) (
	[]*revisions.Stored, error,
) {
	selection.Page = Page{Limit: -1}
	ranks, err := s.store.Ranks(ctx, id, selection)
	if err != nil {
		return nil, fmt.Errorf("select documents: %w", revisions.Explained(ctx, s.store, id, err))
	}
	var selected []*revisions.Stored
	for _, doc := range rendered {
		if _, wanted := ranks[doc.ID]; wanted {
			selected = append(selected, doc)
		}
	}
	slices.SortStableFunc(selected, func(a, b *revisions.Stored) int { return cmp.Compare(ranks[a.ID], ranks[b.ID]) })
	return selected, nil
}

// Of returns the documents of a list that are on the page.
func (p Page) Of(documents []*revisions.Stored) Selected {
	documents = documents[min(p.Offset, len(documents)):]
	if p.Limit < 0 || p.Limit >= len(documents) {
		return Selected{Documents: documents}
	}
	return Selected{Documents: documents[:p.Limit], More: true}
}

// rendered returns a rendered revision, from the cache if possible.
func (s *Service) rendered(ctx context.Context, key changes.RenderKey) (changes.Rendering, error) {
	rendered, err := s.cache.Do(ctx, key, func(ctx context.Context) (changes.Rendering, int, error) {
		return s.render(ctx, key)
	})
	if err != nil {
		return changes.Rendering{}, fmt.Errorf("render revision %d: %w", key.Revision, err)
	}
	return rendered, nil
}

// render renders a revision. The size is negative if the result must not be cached.
func (s *Service) render(ctx context.Context, key changes.RenderKey) (changes.Rendering, int, error) {
	documents, err := s.allDocuments(ctx, key)
	if err != nil {
		return changes.Rendering{}, 0, err
	}
	fallback, err := s.fallback(ctx, key.Revision, documents)
	if err != nil {
		return changes.Rendering{}, 0, err
	}
	rendered, err := s.renderer.Render(ctx, key.Revision, documents, fallback)
	if rendered.Provisional {
		return rendered, -1, err
	}
	return rendered, rendered.Size, err
}

// allDocuments reads all documents of a revision.
func (s *Service) allDocuments(ctx context.Context, key changes.RenderKey) ([]*revisions.Stored, error) {
	var found Selected
	var err error
	if key.Cleartext {
		found, err = s.store.Documents(ctx, key.Revision, Selection{Cleartext: true, Page: Page{Limit: -1}})
	} else {
		found, err = s.store.AllDocuments(ctx, key.Revision, key.Stamp)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read documents: %w", revisions.Explained(ctx, s.store, key.Revision, err))
	case found.Stamp != key.Stamp:
		return nil, replaced(key.Revision)
	}
	return found.Documents, nil
}

// replaced returns the fault for a revision that was replaced by another with its number while it was being read.
func replaced(revision int64) error {
	return fault.New(fault.Unavailable, "RevisionReplaced", "Revision %d was replaced by another one while it was being "+
		"read: the database was restored, or all revisions were deleted; ask again", revision)
}

// unrendered returns the documents that a revision is rendered from, without encrypted ones if key.Cleartext.
func (s *Service) unrendered(ctx context.Context, key changes.RenderKey) ([]*revisions.Stored, error) {
	documents, err := s.allDocuments(ctx, key)
	if err != nil {
		return nil, err
	}
	fallback, err := s.fallback(ctx, key.Revision, documents)
	return changes.WithPolicy(documents, fallback), err
}

// fallback returns the LayeringPolicy for documents without one; nil if they have one or none ever existed.
func (s *Service) fallback(ctx context.Context, id int64, documents []*revisions.Stored) (*revisions.Stored, error) {
	if changes.HasLayeringPolicy(documents) {
		return nil, nil
	}
	fallback, err := s.store.FallbackPolicy(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("find a layering policy: %w", err)
	}
	return fallback, nil
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
