package queries

import (
	"context"
	"errors"
	"fmt"

	"purser/internal/budget"
	"purser/internal/revisions"
)

// maxSearched is the number of documents that a search looks at.
const maxSearched = 10_000

// errEnough ends a search that has found enough documents.
var errEnough = errors.New("enough is found")

// search returns the documents that match a selection and contain its search text. It reads documents that match the
// other filters in batches until the page is full, maxSearched at most. It keeps only the first 4 MiB of hits. Its work
// counts toward the request's budget. Faults: those of Documents; TooLarge.
func (v View) search(ctx context.Context, id int64, selection Selection) (Selected, error) {
	wanted := v.restricted(selection)
	wanted.Page, wanted.MaxBytes, wanted.Among = Page{Limit: -1}, maxRead, maxSearched
	candidates, err := v.store.Documents(ctx, id, wanted)
	if err != nil {
		return Selected{}, fmt.Errorf("read documents: %w", revisions.Explained(ctx, v.store, id, err))
	}
	hits := hits{page: selection.Page, text: newSearchText(selection.Search), meter: budget.NewMeter(ctx)}
	if err = hits.addAll(candidates.Documents); err == nil {
		err = v.rest(budget.Exempt(ctx), candidates, hits.add)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return Selected{}, err
	}
	found := hits.found
	if !found.More && len(candidates.Documents)+len(candidates.Rest) == maxSearched {
		found.Searched = selection.Searched + maxSearched
	}
	found.Revision, found.Stamp, found.Provisional = candidates.Revision, candidates.Stamp, candidates.Provisional
	return v.redacted(found), nil
}

// hits collects the documents of a page that contain a text.
type hits struct {
	page  Page
	text  searchText
	meter *budget.Meter
	found Selected
	count int // hits up to the end of the page
	size  int // of the hits, in bytes
}

func (h *hits) addAll(documents []*revisions.Stored) error {
	for _, doc := range documents {
		if err := h.add(doc); err != nil {
			return err
		}
	}
	return nil
}

// add adds a document if it contains the text. It returns errEnough if the page is full and there are more hits.
func (h *hits) add(doc *revisions.Stored) error {
	if err := h.meter.Spend(h.text.cost(doc)); err != nil {
		return budget.About(err, "search for %q", revisions.Truncate(h.text.String()))
	}
	if !h.text.isIn(doc) {
		return nil
	}
	h.count++
	switch {
	case h.count <= h.page.Offset:
		return nil
	case h.page.Limit >= 0 && h.count > h.page.Offset+h.page.Limit:
		h.found.More = true
		return errEnough
	}
	size := revisions.Size(doc.Document)
	if h.size += size; h.size > maxRead {
		h.found.Rest = append(h.found.Rest, Outline{doc.ID, size})
	} else {
		h.found.Documents = append(h.found.Documents, doc)
	}
	return nil
}
