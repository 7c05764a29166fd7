package queries

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/rendering"
	"purser/internal/revisions"
	"purser/internal/validations"
)

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
	return evidence.Revisions[0].Stamp == key.Stamp && slices.ContainsFunc(evidence.Outcomes[key.Revision], found), nil
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
		return nil, false, fmt.Errorf("read documents: %w", revisions.Explained(ctx, s.store, key.Revision, err))
	case found.Stamp != key.Stamp:
		return nil, false, replaced(key.Revision)
	}
	return found.Documents, len(found.Documents) <= limit && len(found.Rest) == 0, nil
}
