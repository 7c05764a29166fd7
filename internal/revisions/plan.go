package revisions

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
)

const layeringPolicyPrefix = "deckhand/LayeringPolicy/"

// plan works out what a payload changes in the bucket. Faults: Conflict (spec/api.md §3.2).
func (s *Service) plan(ctx context.Context, state Bucket, in *ingest) (Change, error) {
	change := Change{Against: state, Revision: Revision{
		ID: state.Revision + 1, CreatedAt: s.Now().UTC(), Buckets: []string{state.Name},
	}}
	if err := match(&change, in); err != nil {
		return Change{}, err
	}
	if err := s.checkClaims(ctx, &change); err != nil {
		return Change{}, err
	}
	return change, nil
}

// match pairs the payload with the bucket's documents: Result is the payload in order, Added what is new or differs,
// Removed what is replaced or left out. The versions of one identity have one place, and no others have it.
func match(change *Change, in *ingest) error {
	state := change.Against
	bySegment := in.known(state)
	byIdentity := identities(state, in)
	seen := make(map[int64]bool, len(in.segments)) // places
	change.Result = make([]*Stored, 0, len(in.segments))
	for i, segment := range in.segments {
		current := bySegment[segment.Digest]
		if in.decoded[i] != nil {
			current = next(change, byIdentity, in.decoded[i])
		}
		if seen[current.Place] {
			return duplicate(current.Identity, state.Name)
		}
		seen[current.Place] = true
		change.Result = append(change.Result, current)
	}
	for _, doc := range state.Documents {
		if !seen[doc.Place] {
			change.Removed = append(change.Removed, doc)
		}
	}
	return nil
}

// identities finds the bucket's documents by identity, if that is needed at all.
func identities(state Bucket, in *ingest) map[document.Identity]*Stored {
	byIdentity := map[document.Identity]*Stored{}
	if slices.ContainsFunc(in.decoded, func(doc *document.Document) bool { return doc != nil }) {
		for _, doc := range state.Documents {
			byIdentity[doc.Identity] = doc
		}
	}
	return byIdentity
}

// next gives the version that a decoded document has from now on: the stored one if it says the same, else a new one.
func next(change *Change, byIdentity map[document.Identity]*Stored, doc *document.Document) *Stored {
	old := byIdentity[doc.Identity]
	if old != nil && old.Digest == doc.Digest && bytes.Equal(old.Metadata, doc.Metadata) {
		reread := *old.Document
		reread.Segment, reread.Notes = doc.Segment, doc.Notes // so that this text is known the next time
		same := *old
		same.Document = &reread
		return &same
	}
	added := &Stored{
		Document: doc, Bucket: change.Against.Name, Revision: change.Revision.ID,
		ID: change.Against.LastDocument + int64(len(change.Added)) + 1,
	}
	added.Place = added.ID
	if old != nil {
		added.Place = old.Place
		change.Removed = append(change.Removed, old)
	}
	change.Added = append(change.Added, added)
	byIdentity[doc.Identity] = added
	return added
}

func duplicate(id document.Identity, bucket string) error {
	return fault.New(fault.Conflict, "DuplicateDocumentExists", "Document %s already exists in bucket: %s", id, bucket)
}

// checkClaims refuses identities that live in another bucket, and a second LayeringPolicy.
func (s *Service) checkClaims(ctx context.Context, change *Change) error {
	var claimed []document.Identity
	for _, doc := range change.Added {
		if doc.Place == doc.ID { // the others were in the bucket before
			claimed = append(claimed, doc.Identity)
		}
	}
	if len(claimed) == 0 {
		return nil
	}
	claims, err := s.Store.Claims(ctx, claimed)
	if err != nil {
		return fmt.Errorf("find who owns the documents: %w", err)
	}
	var policies []*Stored
	for _, doc := range change.Result {
		if strings.HasPrefix(doc.Schema, layeringPolicyPrefix) {
			policies = append(policies, doc)
		}
	}
	if err := checkSingleton(policies, claims); err != nil {
		return err
	}
	for _, claim := range claims {
		if claim.Bucket != change.Against.Name && slices.Contains(claimed, claim.Identity) {
			return duplicate(claim.Identity, claim.Bucket)
		}
	}
	return nil
}

// checkSingleton allows a LayeringPolicy only where no other one is live, in the same bucket too.
func checkSingleton(policies, live []*Stored) error {
	if len(policies) == 0 {
		return nil
	}
	standing := policies[0]
	for _, doc := range live {
		if strings.HasPrefix(doc.Schema, layeringPolicyPrefix) {
			standing = doc
		}
	}
	var others []string
	for _, doc := range policies {
		if doc.Identity != standing.Identity {
			others = append(others, doc.Identity.String())
		}
	}
	if len(others) == 0 {
		return nil
	}
	return fault.New(fault.Conflict, "SingletonDocumentConflict",
		"A singleton document %s already exists in the system. The new document(s) %s cannot be created. To create a "+
			"document with a new name, delete the current one first", standing.Identity, strings.Join(others, ", "))
}
