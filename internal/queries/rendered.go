package queries

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Rendered returns the rendered documents of a revision that match a selection, without a sort key in the order of
// rendering. The selection does not affect how they are rendered, and hides no faults of the others. Faults: NotFound,
// Gone; those of rendering; Invalid, with D002, if a document does not match its schema.
func (v View) Rendered(ctx context.Context, id int64, selection Selection) (Selected, error) {
	around, err := v.around(ctx, id)
	if err != nil {
		return Selected{}, err
	}
	key := changes.RenderKey{Site: v.renderer.Site, Revision: id, Stamp: around.Stamp, Cleartext: !v.viewer.Encrypted}
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
		selection.Cleartext = key.Cleartext
		if documents, err = v.selectRendered(ctx, id, selection, documents); err != nil {
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

// Rendering returns a rendered revision, for those who may see everything, from the cache if possible. Faults:
// NotFound, Gone; those of rendering.
func (s *Service) Rendering(ctx context.Context, revision int64) (changes.Rendering, error) {
	around, err := s.around(ctx, revision)
	if err != nil {
		return changes.Rendering{}, err
	}
	return s.rendered(ctx, changes.RenderKey{Site: s.renderer.Site, Revision: revision, Stamp: around.Stamp})
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
	documents, fallback, err := s.inputs(ctx, key)
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
		return nil, s.readError(ctx, key.Revision, "documents", err)
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
	documents, fallback, err := s.inputs(ctx, key)
	return changes.WithPolicy(documents, fallback), err
}

// inputs returns the documents of a revision, without encrypted ones if key.Cleartext, and the LayeringPolicy to use if
// they have none.
func (s *Service) inputs(ctx context.Context, key changes.RenderKey) (
	documents []*revisions.Stored, fallback *revisions.Stored, err error,
) {
	if documents, err = s.allDocuments(ctx, key); err == nil {
		fallback, err = s.fallback(ctx, key.Revision, documents)
	}
	return documents, fallback, err
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

// manyDocuments is the number of documents of a site from which on one document may be rendered apart from the others.
// Revisions of smaller sites are rendered as a whole, once for many requests.
const manyDocuments = 5000

// Limits on what is read to render one document apart from the others.
const (
	maxSelected = 20  // documents with its name, also those that it replaces
	maxApart    = 500 // documents that it depends on, itself included
	maxParents  = 50  // documents among these that select a parent, each of which the store searches for
)

// renderedApart returns the rendered document that a selection asks for, if any, from only those that it depends on.
// It is as in the rendering of the whole revision. known is false where that is in the cache; if it may have errors,
// which a selection does not hide; if several documents are selected, whose order depends on all others; and if one
// depends on too many.
func (v View) renderedApart(ctx context.Context, key changes.RenderKey, selection Selection) (
	documents []*revisions.Stored, known bool, err error,
) {
	if _, cached := v.cache.Get(key); cached || key.Cleartext || v.renderer.Compat {
		return nil, false, nil
	}
	if renders, err := v.renders(ctx, key); err != nil || !renders {
		return nil, false, err
	}
	selection.Sort, selection.Backwards, selection.Page = nil, false, Page{Limit: maxSelected}
	selected, whole, err := v.readFew(ctx, key, selection)
	if err != nil || !whole {
		return nil, false, err
	}
	wanted := map[*document.Document]bool{}
	for _, doc := range selected {
		wanted[doc.Document] = true
	}
	all, whole, err := v.lineage(ctx, key, selected)
	if err != nil || !whole {
		return nil, false, err
	}
	fallback, err := v.fallback(ctx, key.Revision, all)
	if err != nil || fallback != nil && fallback.Revision > key.Revision { // it came after the verdict
		return nil, false, err
	}
	all = changes.WithPolicy(all, fallback)
	rendered, err := v.renderer.RenderOnly(ctx, all, func(doc *document.Document) bool { return wanted[doc] })
	if err != nil || len(rendered.Documents) > 1 {
		return nil, false, nil //nolint:nilerr // rendering the whole revision finds this error, and others before it
	}
	return rendered.Documents, true, nil
}

// renders reports whether all documents of a revision render and match their schemas, as was found when it was made.
func (s *Service) renders(ctx context.Context, key changes.RenderKey) (bool, error) {
	evidence, err := s.evidence(ctx, key.Revision)
	if err != nil {
		return false, err
	}
	found := func(outcome validations.Outcome) bool {
		return outcome.Name == validations.RenderingValidation && outcome.Status == validations.Success
	}
	outcomes := evidence.Known[key.Revision].Outcomes
	return evidence.Revisions[0].Stamp == key.Stamp && slices.ContainsFunc(outcomes, found), nil
}

// lineage returns documents of a revision, all that their rendering depends on, and the LayeringPolicies, in order of
// place. whole is false if these are too many.
func (s *Service) lineage(ctx context.Context, key changes.RenderKey, documents []*revisions.Stored) (
	all []*revisions.Stored, whole bool, err error,
) {
	policies := Selection{Schemas: []string{"deckhand/LayeringPolicy"}, Page: Page{Limit: maxApart}}
	next, whole, err := s.readFew(ctx, key, policies)
	if err != nil || !whole {
		return nil, false, err
	}
	found, parents := map[int64]*revisions.Stored{}, 0
	for next = append(next, documents...); len(next) > 0; {
		for _, doc := range next {
			found[doc.ID] = doc
		}
		needs, isClear, err := rendering.NeedsOf(ctx, revisions.Contents(next))
		parents += len(needs.Parents)
		if err != nil || !isClear || parents > maxParents || len(found) > maxApart {
			return nil, false, err
		}
		if next, whole, err = s.needed(ctx, key, needs); err != nil || !whole {
			return nil, false, err
		}
		next = slices.DeleteFunc(next, func(doc *revisions.Stored) bool { return found[doc.ID] != nil })
	}
	return slices.SortedFunc(maps.Values(found), revisions.ByPlace), true, nil
}

// needed reads the documents that others need. whole is false if these are too many.
func (s *Service) needed(ctx context.Context, key changes.RenderKey, needs rendering.Needs) (
	documents []*revisions.Stored, whole bool, err error,
) {
	keys := map[rendering.Key]bool{}
	named := Selection{Page: Page{Limit: maxApart}}
	for _, k := range needs.Keys {
		keys[k] = true
		named.Schemas, named.Names = append(named.Schemas, k.Schema), append(named.Names, k.Name)
	}
	if documents, whole, err = s.readFew(ctx, key, named); err != nil || !whole {
		return nil, false, err
	}
	documents = slices.DeleteFunc(documents, func(doc *revisions.Stored) bool {
		return !keys[rendering.Key{Schema: doc.Schema, Name: doc.Name}]
	})
	for _, parent := range needs.Parents {
		selection := Selection{Schemas: []string{parent.Schema}, Page: Page{Limit: maxApart}}
		for _, label := range parent.Labels {
			selection.Labels = append(selection.Labels, Label(label))
		}
		parents, whole, err := s.readFew(ctx, key, selection)
		if err != nil || !whole {
			return nil, false, err
		}
		documents = append(documents, parents...)
	}
	return documents, true, nil
}

// readFew reads the documents of a revision that match a selection. whole is false if these are more than its limit, or
// too large.
func (s *Service) readFew(ctx context.Context, key changes.RenderKey, selection Selection) (
	documents []*revisions.Stored, whole bool, err error,
) {
	limit := selection.Limit
	selection.Limit, selection.MaxBytes = limit+1, maxRead
	found, err := s.store.Documents(ctx, key.Revision, selection)
	switch {
	case err != nil:
		return nil, false, s.readError(ctx, key.Revision, "documents", err)
	case found.Stamp != key.Stamp:
		return nil, false, replaced(key.Revision)
	}
	return found.Documents, len(found.Documents) <= limit && len(found.Rest) == 0, nil
}
