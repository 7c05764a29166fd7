package revisions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering"
)

// Rendered returns the rendered documents of a revision that a selection asks for; without a sort key they come in the
// order of rendering (spec/api.md §5.3). What is selected decides nothing about how they are rendered. Faults:
// NotFound, Gone; those of rendering; Invalid, with D002, if one fails its schema.
func (s *Service) Rendered(ctx context.Context, id int64, selection Selection) (Selected, error) {
	epoch, err := s.Epoch(ctx, id)
	if err != nil {
		return Selected{}, err
	}
	rendered, err := s.rendition(ctx, renditionKey{epoch, id})
	if err != nil {
		return Selected{}, err
	}
	if rendered.fault != nil {
		return Selected{}, rendered.fault
	}
	selected := selection.of(rendered.documents)
	selected.Epoch, selected.Passing = epoch, rendered.passing
	return selected, nil
}

func (s *Service) rendition(ctx context.Context, key renditionKey) (rendition, error) {
	rendered, err := s.renditions.of(ctx, key, func(ctx context.Context) (rendition, error) {
		return s.render(ctx, key.revision)
	})
	if err != nil {
		return rendition{}, fmt.Errorf("render revision %d: %w", key.revision, err)
	}
	return rendered, nil
}

// render renders a revision and checks the outcome.
func (s *Service) render(ctx context.Context, id int64) (rendition, error) {
	found, err := s.Store.Documents(ctx, id, Selection{Page: Page{Limit: -1}})
	if err != nil {
		return rendition{}, fmt.Errorf("read documents: %w", s.explained(ctx, id, err))
	}
	return s.renderDocuments(ctx, id, found.Documents)
}

// renderDocuments renders the documents of a revision.
func (s *Service) renderDocuments(ctx context.Context, id int64, documents []*Stored) (out rendition, err error) {
	if documents, out.passing, err = s.layered(ctx, id, documents); err != nil {
		return rendition{}, err
	}
	brought := map[*Stored][][]string{}
	if out.documents, err = s.computed(ctx, documents, brought); err != nil {
		return rendition{}, err
	}
	for _, doc := range out.documents {
		const overhead = 512 // of a document's structures, roughly
		out.size += len(doc.Data) + len(doc.Metadata) + overhead
	}
	err = s.validateRendered(ctx, out.documents, brought)
	if fault.KindOf(err) == fault.Invalid {
		out.fault, err = err, nil // which the rendition has for good
	}
	return out, err
}

// layered adds a LayeringPolicy to the documents of a revision that have none, if there is one (spec/rendering.md §1),
// and tells whether there may be another one later.
func (s *Service) layered(ctx context.Context, id int64, documents []*Stored) (all []*Stored, passing bool, err error) {
	if holdsLayeringPolicy(documents) {
		return documents, false, nil
	}
	fallback, err := s.Store.FallbackPolicy(ctx, id)
	if err != nil {
		return nil, false, fmt.Errorf("find a layering policy: %w", err)
	}
	if fallback == nil {
		return documents, false, nil
	}
	return append(documents, fallback), fallback.Revision > id, nil
}

func holdsLayeringPolicy(documents []*Stored) bool {
	return slices.ContainsFunc(documents, func(doc *Stored) bool {
		return strings.HasPrefix(doc.Schema, layeringPolicyPrefix)
	})
}

// computed gives the documents that services read, with their data as it is rendered. All else stays as it was
// submitted, their digests too. brought learns where substitutions wrote.
func (s *Service) computed(ctx context.Context, stored []*Stored, brought map[*Stored][][]string) ([]*Stored, error) {
	rendered, err := rendering.Render(ctx, contentsOf(stored), rendering.Options{})
	if err != nil {
		return nil, err
	}
	out := make([]*Stored, len(rendered))
	err = s.forEach(ctx, len(rendered), func(i int) {
		doc := *stored[rendered[i].Index]
		if rendered[i].Computed {
			text := *doc.Document
			text.Data = document.AppendJSON(nil, rendered[i].Data)
			doc.Document = &text
		}
		doc.Kept = true // with the rendition
		out[i] = &doc
	})
	if err != nil {
		return nil, fmt.Errorf("write rendered documents: %w", err)
	}
	for i, doc := range out {
		brought[doc] = rendered[i].Brought
	}
	return out, nil
}
