package queries

import (
	"context"
	"fmt"

	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/document/blockyaml"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// Why a document is shown in its canonical form instead of as it was submitted.
const (
	whyNone     = "the server has no text of it: an earlier version stored it, or it was not sent as a text"
	whySecret   = "its text has a secret: ask with cleartext-secrets=true, or run \"purser pull --secrets\""
	whyReplaced = "it was written again while it was being read: ask again"
	whyPartly   = "its text is of several documents, and not all of them are shown here"
)

// Submitted calls do for the texts of selected documents as they were submitted, in the order of the documents, some at a
// time. A text of several documents comes once, if all of them are selected. Other documents come in their canonical
// form. Texts with secrets are shown if secrets is set and the viewer may see secrets. Fault: Gone if the revision is
// deleted meanwhile.
func (v View) Submitted(ctx context.Context, selected Selected, secrets bool, do func([]document.File) error) error {
	origins, err := v.origins(ctx, selected)
	if err != nil {
		return err
	}
	having := map[int64]int{} // numbers of selected documents by their texts
	for _, origin := range origins {
		having[origin.Text]++
	}
	shown := map[int64]bool{} // texts
	return v.Each(ctx, selected, func(documents []*revisions.Stored) error {
		for len(documents) > 0 {
			var next []*revisions.Stored
			next, documents = fewBlocks(documents, origins)
			if err := v.submitted(ctx, next, origins, having, shown, secrets, do); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxBlocks is the number of blocks of texts that are unpacked at a time. Each has one text, or a few small ones.
const maxBlocks = 16

// fewBlocks divides documents into the first ones, whose texts are in few blocks, and the rest.
func fewBlocks(documents []*revisions.Stored, origins map[int64]revisions.Origin) (first, rest []*revisions.Stored) {
	blocks := map[int64]bool{}
	for i, doc := range documents {
		if blocks[origins[doc.ID].Text/revisions.MaxTextsOfBlock] = true; len(blocks) > maxBlocks {
			return documents[:i], documents[i:]
		}
	}
	return documents, nil
}

// submitted calls do for the texts of documents, except those that were shown before, and marks them as shown.
func (v View) submitted(ctx context.Context, documents []*revisions.Stored, origins map[int64]revisions.Origin,
	having map[int64]int, shown map[int64]bool, secrets bool, do func([]document.File) error,
) error {
	var numbers []int64
	for _, doc := range documents {
		if number := origins[doc.ID].Text; !shown[number] {
			numbers = append(numbers, number)
		}
	}
	texts, held, err := v.texts(ctx, numbers, secrets && v.viewer.Secrets())
	if err != nil {
		return err
	}
	defer budget.NewMeter(ctx).Release(held)
	var files []document.File
	for _, doc := range documents {
		origin := origins[doc.ID]
		if shown[origin.Text] {
			continue
		}
		text := texts[origin.Text]
		file := document.File{Path: origin.Path, Bucket: doc.Bucket, Line: origin.Line, Text: text.Body, JSON: text.JSON}
		if file.Why = why(doc, origin, text, having[origin.Text]); file.Why == "" {
			shown[origin.Text] = true
		} else {
			file.Text, file.JSON = canonical(doc), false
		}
		files = append(files, file)
	}
	return do(files)
}

// why returns why a document is not shown with its text, "" if it is. The text is zero if it was not found, and shown
// documents have it.
func why(doc *revisions.Stored, origin revisions.Origin, text revisions.Text, shown int) string {
	switch {
	case origin.Text == 0:
		return whyNone
	case text.Body != nil && text.Documents == shown:
		return ""
	case text.Secret != nil && doc.Traits().Encrypted:
		return whySecret
	case text.Body == nil && text.Secret == nil:
		return whyReplaced
	}
	return whyPartly
}

// canonical returns a document as YAML, without what a server adds.
func canonical(doc *revisions.Stored) []byte {
	text := append(append([]byte(`{"schema":`), document.AppendJSON(nil, doc.Schema)...), `,"metadata":`...)
	text = append(append(append(text, doc.Metadata...), `,"data":`...), doc.Data...)
	return blockyaml.Append(nil, append(text, '}'))
}

// origins returns where selected documents were written, by ID. Fault: Gone.
func (s *Service) origins(ctx context.Context, selected Selected) (map[int64]revisions.Origin, error) {
	ids := make([]int64, 0, len(selected.Documents)+len(selected.Rest))
	for _, doc := range selected.Documents {
		ids = append(ids, doc.ID)
	}
	for _, doc := range selected.Rest {
		ids = append(ids, doc.ID)
	}
	origins, err := s.store.Origins(ctx, ids)
	switch {
	case err != nil:
		return nil, fmt.Errorf("find texts: %w", err)
	case len(origins) < len(ids):
		return nil, fault.New(fault.Gone, "RevisionPruned", "The revision was deleted while it was being read")
	}
	return origins, nil
}

// texts returns texts by their numbers, and the number of bytes charged for them. Those that have secrets come without
// their bodies unless secrets is set. The number 0 is that of none.
func (s *Service) texts(ctx context.Context, numbers []int64, secrets bool) (
	texts map[int64]revisions.Text, held int, err error,
) {
	numbers = revisions.Missing(numbers, []int64{0})
	if len(numbers) == 0 {
		return nil, 0, nil
	}
	var open func(reference string, sealed []byte) ([]byte, error)
	if secrets {
		open = func(reference string, sealed []byte) ([]byte, error) {
			return changes.OpenText(ctx, s.renderer.Vault, reference, sealed)
		}
	}
	if texts, err = s.store.Texts(ctx, numbers, open); err != nil {
		return nil, 0, fmt.Errorf("read texts: %w", budget.About(err, "the texts of documents"))
	}
	for _, text := range texts {
		held += len(text.Body)
	}
	return texts, held, budget.About(budget.NewMeter(ctx).Hold(held), "the texts of documents")
}
