package queries

import (
	"context"
	"fmt"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/document/blockyaml"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// Why a document is shown in its canonical form instead of as it was submitted.
const (
	whyNone     = "the server has no text of it: an earlier version stored it, or it was not sent as a text"
	whySealed   = "its text has a secret: ask with cleartext-secrets=true, or run \"purser pull --secrets\""
	whyReplaced = "it was written again while it was being read: ask again"
	whyRefers   = "it was pushed with the reference to its secret, and not with the secret"
	whyPartly   = "its text is of several documents, which do not all have it any more, or are not all shown"
)

// Submitted calls do for the texts of selected documents as they were submitted, in the order of the documents, some at
// a time. A text of several documents comes once, if all of them are selected. Other documents come in their canonical
// form. Texts with secrets are shown if secrets is set and the viewer may see secrets. Fault: Gone if the revision is
// deleted meanwhile.
func (v View) Submitted(ctx context.Context, selected Selected, secrets bool, do func([]document.File) error) error {
	origins, err := v.origins(ctx, selected)
	if err != nil {
		return err
	}
	having := map[int64]int{}
	for _, origin := range origins {
		having[origin.Text]++
	}
	form := submission{v, origins, having, map[int64]bool{}, secrets && v.viewer.Secrets()}
	var waiting []*revisions.Stored // those of large sites come one by one
	blocks, size := map[int64]bool{}, 0
	flush := func() error {
		err := form.write(ctx, waiting, do)
		waiting, blocks, size = nil, map[int64]bool{}, 0
		return err
	}
	err = v.Each(ctx, selected, func(documents []*revisions.Stored) error {
		for _, doc := range documents {
			block := origins[doc.ID].Text / revisions.MaxTextsOfBlock
			if len(waiting) == mostWaiting || size > maxWaiting || len(blocks) == maxBlocks && !blocks[block] {
				if err := flush(); err != nil {
					return err
				}
			}
			waiting, size, blocks[block] = append(waiting, doc), size+len(doc.Data), true
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// submission is the state of showing documents as they were submitted.
type submission struct {
	View

	origins map[int64]revisions.Origin // by the IDs of versions
	having  map[int64]int              // numbers of selected documents by their texts
	shown   map[int64]bool             // texts
	secrets bool
}

// Bounds of the documents that are written at a time: the bytes of their data, their number, and the number of blocks
// of texts that they have, each of which has one text or a few small ones.
const maxWaiting, mostWaiting, maxBlocks = 1 << 20, 1000, 16

// write calls do for the texts of documents, except those that were shown before, and marks them as shown.
func (s submission) write(ctx context.Context, documents []*revisions.Stored, do func([]document.File) error) error {
	var numbers []int64
	for _, doc := range documents {
		if number := s.origins[doc.ID].Text; !s.shown[number] {
			numbers = append(numbers, number)
		}
	}
	texts, held, err := s.texts(ctx, numbers, s.secrets)
	if err != nil {
		return err
	}
	defer budget.NewMeter(ctx).Release(held)
	var files []document.File
	for _, doc := range documents {
		origin := s.origins[doc.ID]
		if s.shown[origin.Text] {
			continue
		}
		text := texts[origin.Text]
		file := document.File{Path: origin.Path, Bucket: doc.Bucket, Line: origin.Line, Text: text.Body}
		if file.Why = why(doc, origin, text, s.having[origin.Text]); file.Why == "" {
			s.shown[origin.Text], file.JSON = true, text.JSON
		} else if file.Text, err = s.canonical(ctx, doc); err != nil {
			return err
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
	case text.Body != nil && text.Documents == shown && text.Refers:
		return whyRefers
	case text.Body != nil && text.Documents == shown:
		return ""
	case text.Secret != nil && doc.Traits().Encrypted:
		return whySealed
	case text.Body == nil && text.Secret == nil:
		return whyReplaced
	}
	return whyPartly
}

// canonical returns a document as YAML, without what a server adds, and with its secret if secrets are shown.
func (s submission) canonical(ctx context.Context, doc *revisions.Stored) ([]byte, error) {
	data := doc.Data
	if s.secrets {
		var err error
		if data, err = s.renderer.Open(ctx, doc); err != nil {
			return nil, fmt.Errorf("show %s: %w", doc.Identity, err)
		}
	}
	text := append(append([]byte(`{"schema":`), document.AppendJSON(nil, doc.Schema)...), `,"metadata":`...)
	text = append(append(append(text, doc.Metadata...), `,"data":`...), data...)
	return blockyaml.Append(nil, append(text, '}')), nil
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
			return s.renderer.OpenText(ctx, reference, sealed)
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
