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
	rendered, err := s.rendition(ctx, renditionKey{epoch, id, selection.Cleartext})
	if err != nil {
		return Selected{}, err
	}
	if rendered.fault != nil {
		return Selected{}, rendered.fault
	}
	documents := rendered.documents
	if selection.Redacted {
		documents = redacted(documents)
	}
	selected := selection.of(documents)
	selected.Epoch, selected.Passing = epoch, rendered.passing
	return selected, nil
}

func (s *Service) rendition(ctx context.Context, key renditionKey) (rendition, error) {
	rendered, err := s.renditions.of(ctx, key, func(ctx context.Context) (rendition, error) {
		return s.render(ctx, key)
	})
	if err != nil {
		return rendition{}, fmt.Errorf("render revision %d: %w", key.revision, err)
	}
	return rendered, nil
}

// render renders a revision and checks the outcome.
func (s *Service) render(ctx context.Context, key renditionKey) (rendition, error) {
	documents, passing, err := s.unrendered(ctx, key.revision, key.cleartext)
	if err != nil {
		return rendition{}, err
	}
	return s.renderDocuments(ctx, documents, passing)
}

// unrendered reads what a revision is rendered from, without encrypted documents if only cleartext ones are wanted.
// passing tells that another LayeringPolicy may count later.
func (s *Service) unrendered(ctx context.Context, id int64, cleartext bool) (
	documents []*Stored, passing bool, err error,
) {
	found, err := s.Store.Documents(ctx, id, Selection{Cleartext: cleartext, Page: Page{Limit: -1}})
	if err != nil {
		return nil, false, fmt.Errorf("read documents: %w", s.explained(ctx, id, err))
	}
	return s.withPolicy(ctx, id, found.Documents)
}

// withPolicy adds the LayeringPolicy that counts for the documents of a revision if none is among them.
func (s *Service) withPolicy(ctx context.Context, id int64, documents []*Stored) (
	with []*Stored, passing bool, err error,
) {
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
	return append(documents, fallback), fallback.Revision > id, nil // then another one may be written
}

// renderDocuments renders documents and checks the outcome.
func (s *Service) renderDocuments(ctx context.Context, documents []*Stored, passing bool) (out rendition, err error) {
	out.passing = passing
	brought := map[*Stored][][]string{}
	if out.documents, err = s.computed(ctx, documents, rendering.Options{}, brought); err != nil {
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

func holdsLayeringPolicy(documents []*Stored) bool {
	return slices.ContainsFunc(documents, func(doc *Stored) bool {
		return strings.HasPrefix(doc.Schema, layeringPolicyPrefix)
	})
}

// computed gives the documents that services read, with their data as it is rendered. All else stays as it was
// submitted, their digests too. brought learns which were computed, and
// where substitutions wrote in these.
func (s *Service) computed(ctx context.Context, stored []*Stored, options rendering.Options,
	brought map[*Stored][][]string,
) ([]*Stored, error) {
	resolve, failed, err := s.resolver(ctx, stored)
	if err != nil {
		return nil, err
	}
	options.Resolve = resolve
	rendered, err := rendering.Render(ctx, contentsOf(stored), options)
	if failure := failed(); failure != nil {
		return nil, failure
	}
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
		doc.Kept, doc.Tainted = true, rendered[i].Secret // kept with the rendition
		out[i] = &doc
	})
	if err != nil {
		return nil, fmt.Errorf("write rendered documents: %w", err)
	}
	for i, doc := range out {
		if rendered[i].Computed {
			brought[doc] = rendered[i].Destinations
		}
	}
	return out, nil
}
