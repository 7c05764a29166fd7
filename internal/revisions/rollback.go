package revisions

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/validations"
)

// Rollback makes a new revision with the documents of an earlier one, or with none for 0, and writes only what differs
// from the newest. It always makes one, also where nothing differs (spec/api.md §6.3). Faults: NotFound, Gone, Stale,
// Conflict.
func (s *Service) Rollback(ctx context.Context, target int64, terms Terms) (Written, error) {
	return s.carryOut(ctx, &rollback{service: s, target: target, cleartextOnly: terms.CleartextOnly}, Rollback, terms)
}

// rollback is a draft that restores a revision.
type rollback struct {
	service *Service
	target  int64
	found   Comparison // of the newest revision with the target
	// cleartextOnly refuses to bring encrypted documents back.
	cleartextOnly bool
}

func (r *rollback) prepare(ctx context.Context) (Head, error) {
	latest, err := r.service.Store.Latest(ctx)
	if err != nil {
		return Head{}, fmt.Errorf("find the latest revision: %w", err)
	}
	if r.found, err = r.service.Store.Compare(ctx, latest, r.target); err != nil {
		return Head{}, fmt.Errorf("compare revisions: %w", err)
	}
	switch {
	case r.found.Revision != latest: // which may be gone already
		return Head{}, ErrMoved
	case len(r.found.Missing) > 0:
		return Head{}, r.service.absent(ctx, r.target)
	case r.cleartextOnly:
		err = r.refuseSecrets(ctx, latest)
	}
	return r.found.Head, err
}

// refuseSecrets refuses to roll back where there are secrets, or were (spec/api.md §10). Fault: Forbidden.
func (r *rollback) refuseSecrets(ctx context.Context, latest int64) error {
	documents := r.found.Come
	if latest > 0 {
		newest, err := r.service.Store.Documents(ctx, latest, Selection{Page: Page{Limit: -1}})
		if err != nil {
			return fmt.Errorf("look for secrets: %w", err)
		}
		documents = append(slices.Clip(documents), newest.Documents...)
	}
	if slices.ContainsFunc(documents, func(doc *Stored) bool { return doc.Traits().Encrypted }) {
		return fault.New(fault.Forbidden, "HTTPForbidden", "%s", mayNotEncrypt)
	}
	return nil
}

// plan takes the versions away that only the newest revision has and adds those that only the target has, in the places
// they had. A version that says the same in the same place stays.
func (r *rollback) plan(ctx context.Context) (Change, bool, error) {
	change := newChange(State{Head: r.found.Head})
	change.Revision.Origin = r.target
	restored := make(map[document.Identity]*Stored, len(r.found.Come))
	for _, doc := range r.found.Come {
		restored[doc.Identity] = doc
	}
	for _, doc := range r.found.Gone {
		if old := restored[doc.Identity]; old != nil && old.Place == doc.Place && sameVersion(old, doc) {
			delete(restored, doc.Identity)
			continue
		}
		change.Removed = append(change.Removed, doc)
	}
	for _, doc := range r.found.Come {
		if restored[doc.Identity] != nil {
			change.add(&Stored{Document: doc.Document, Bucket: doc.Bucket}).Place = doc.Place
		}
	}
	change.Revision.Buckets = change.touched()
	change.Opened, change.Emptied = missingIn(r.found.Before, r.found.After), missingIn(r.found.After, r.found.Before)
	return change, true, r.service.fill(ctx, &change)
}

// sameVersion tells whether two versions of an identity say the same in the same bucket.
func sameVersion(a, b *Stored) bool {
	return a.Bucket == b.Bucket && a.Digest == b.Digest && bytes.Equal(a.Metadata, b.Metadata)
}

// missingIn gives the others that are not in a sorted list.
func missingIn(sorted, others []string) (missing []string) {
	for _, other := range others {
		if _, found := slices.BinarySearch(sorted, other); !found {
			missing = append(missing, other)
		}
	}
	return missing
}

// fill reads the contents that judging a change needs: of what it adds, and of the DataSchemas it removes.
func (s *Service) fill(ctx context.Context, change *Change) (err error) {
	if change.Added, err = s.withContents(ctx, change.Added); err != nil {
		return err
	}
	schemas := slices.DeleteFunc(slices.Clone(change.Removed), func(doc *Stored) bool {
		return doc.Schema != validations.DataSchemaKind
	})
	if schemas, err = s.withContents(ctx, schemas); err != nil {
		return err
	}
	change.Removed = slices.DeleteFunc(change.Removed, func(doc *Stored) bool {
		return doc.Schema == validations.DataSchemaKind
	})
	change.Removed = append(change.Removed, schemas...)
	return nil
}

// withContents gives documents with their contents. ErrMoved if they were pruned meanwhile.
func (s *Service) withContents(ctx context.Context, documents []*Stored) ([]*Stored, error) {
	digests := make([]document.Digest, 0, len(documents))
	for _, doc := range documents {
		digests = append(digests, doc.Digest)
	}
	texts, err := s.Store.Contents(ctx, digests)
	if err != nil {
		return nil, fmt.Errorf("read contents: %w", err)
	}
	filled := make([]*Stored, len(documents))
	for i, doc := range documents {
		same, text := *doc, *doc.Document
		if text.Data = texts[doc.Digest]; text.Data == nil {
			return nil, ErrMoved
		}
		same.Document = &text
		filled[i] = &same
	}
	return filled, nil
}
