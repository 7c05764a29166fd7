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
	whyNone   = "the server has no text of it: an earlier version stored it, or it was not sent as a text"
	whySecret = "its text has a secret: ask with cleartext-secrets=true, or run \"purser pull --secrets\""
	whyPartly = "its text is of several documents, and not all of them are shown here"
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
		var numbers []int64
		for _, doc := range documents {
			numbers = append(numbers, origins[doc.ID].Text)
		}
		texts, err := v.texts(ctx, numbers, secrets && v.viewer.Secrets())
		if err != nil {
			return err
		}
		var files []document.File
		for _, doc := range documents {
			origin := origins[doc.ID]
			text, known := texts[origin.Text]
			file := document.File{Path: origin.Path, Bucket: doc.Bucket, Line: origin.Line}
			switch {
			case known && text.Documents == having[origin.Text]:
				if shown[origin.Text] {
					continue
				}
				shown[origin.Text] = true
				file.Text, file.JSON = text.Body, text.JSON
			case origin.Text == 0:
				file.Why = whyNone
			case doc.Traits().Encrypted:
				file.Why = whySecret
			default:
				file.Why = whyPartly
			}
			if file.Why != "" {
				file.Text = canonical(doc)
			}
			files = append(files, file)
		}
		return do(files)
	})
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

// texts returns texts by their numbers, without those that have secrets unless secrets is set. The number 0 is that of
// none.
func (s *Service) texts(ctx context.Context, numbers []int64, secrets bool) (map[int64]revisions.Text, error) {
	numbers = revisions.Missing(numbers, []int64{0})
	if len(numbers) == 0 {
		return nil, nil
	}
	var open func(reference string, sealed []byte) ([]byte, error)
	if secrets {
		open = func(reference string, sealed []byte) ([]byte, error) {
			return changes.OpenText(ctx, s.renderer.Vault, reference, sealed)
		}
	}
	texts, err := s.store.Texts(ctx, numbers, open)
	if err != nil {
		return nil, fmt.Errorf("read texts: %w", budget.About(err, "the texts of documents"))
	}
	return texts, nil
}
