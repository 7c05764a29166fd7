package revisions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
)

const layeringPolicyPrefix = "deckhand/LayeringPolicy/"

// newChange begins a change of a state.
func newChange(state State) Change {
	return Change{Against: state, Revision: Revision{ID: state.Revision + 1}}
}

// plan works out what the payload changes in its buckets. Faults: Conflict (spec/api.md §3.2).
func (in *ingest) plan(ctx context.Context) (Change, bool, error) {
	change := newChange(in.state)
	if err := in.match(&change); err != nil {
		return Change{}, false, err
	}
	if err := in.checkClaims(ctx, &change); err != nil {
		return Change{}, false, err
	}
	in.toggle(&change)
	if change.Revision.Buckets = change.touched(); in.service.Compat {
		change.Revision.Buckets = slices.Sorted(slices.Values(in.buckets))
	}
	return change, in.worthARevision(&change), nil
}

// worthARevision tells whether the payload makes a revision (spec/api.md §3.3, §0 C2).
func (in *ingest) worthARevision(change *Change) bool {
	if in.service.Compat {
		return len(in.segments) > 0 || slices.ContainsFunc(in.state.Buckets, func(b Bucket) bool { return b.Changed > 0 })
	}
	return len(change.Added)+len(change.Removed) > 0
}

// match pairs the payload with the buckets' documents: Result is the payload in order, Added what is new or differs,
// Removed what is replaced or left out. The versions of one identity have one place, and no others have it.
func (in *ingest) match(change *Change) error {
	byIdentity := in.identities()
	seen := make(map[int64]string, len(in.segments)) // the bucket by place
	change.Result = make([]*Stored, 0, len(in.segments))
	for i, segment := range in.segments {
		current := in.index[segment.Digest]
		if in.decoded[i] != nil {
			current = next(change, byIdentity, in.decoded[i], in.owners[i])
		}
		if bucket, twice := seen[current.Place]; twice {
			return duplicate(current.Identity, bucket)
		}
		seen[current.Place] = current.Bucket
		change.Result = append(change.Result, current)
	}
	for _, bucket := range in.state.Buckets {
		for _, doc := range bucket.Documents {
			if _, stays := seen[doc.Place]; !stays {
				change.Removed = append(change.Removed, doc)
			}
		}
	}
	return nil
}

// identities finds the buckets' documents by identity, if that is needed at all.
func (in *ingest) identities() map[document.Identity]*Stored {
	byIdentity := map[document.Identity]*Stored{}
	if slices.ContainsFunc(in.decoded, func(doc *document.Document) bool { return doc != nil }) {
		for _, bucket := range in.state.Buckets {
			for _, doc := range bucket.Documents {
				byIdentity[doc.Identity] = doc
			}
		}
	}
	return byIdentity
}

// next gives the version that a decoded document has from now on: the stored one if it says the same, else a new one.
func next(change *Change, byIdentity map[document.Identity]*Stored, doc *document.Document, bucket string) *Stored {
	old := byIdentity[doc.Identity]
	if old != nil && sameVersion(old, &Stored{Document: doc, Bucket: bucket}) {
		reread := *old.Document
		reread.Segment, reread.Notes = doc.Segment, doc.Notes // so that this text is known the next time
		same := *old
		same.Document = &reread
		return &same
	}
	added := change.add(&Stored{Document: doc, Bucket: bucket})
	if old != nil {
		added.Place = old.Place
		change.Removed = append(change.Removed, old)
	}
	byIdentity[doc.Identity] = added
	return added
}

// add gives a new version its id, and as long as nothing else is said its place.
func (c *Change) add(doc *Stored) *Stored {
	doc.ID = c.Against.LastDocument + int64(len(c.Added)) + 1
	doc.Place, doc.Revision = doc.ID, c.Revision.ID
	c.Added = append(c.Added, doc)
	return doc
}

// touched are the buckets in which a change adds or removes documents, sorted.
func (c *Change) touched() []string {
	var buckets []string
	for _, doc := range slices.Concat(c.Added, c.Removed) {
		buckets = append(buckets, doc.Bucket)
	}
	slices.Sort(buckets)
	return slices.Compact(buckets)
}

// toggle notes which buckets come to have documents, or to have none.
func (in *ingest) toggle(change *Change) {
	filled := make(map[string]bool, len(in.buckets))
	for _, doc := range change.Result {
		filled[doc.Bucket] = true
	}
	for _, bucket := range in.state.Buckets {
		switch was := len(bucket.Documents) > 0; {
		case !was && filled[bucket.Name]:
			change.Opened = append(change.Opened, bucket.Name)
		case was && !filled[bucket.Name]:
			change.Emptied = append(change.Emptied, bucket.Name)
		}
	}
}

func duplicate(id document.Identity, bucket string) error {
	return fault.New(fault.Conflict, "DuplicateDocumentExists", "Document %s already exists in bucket: %s", id, bucket)
}

// checkClaims refuses identities that live in another bucket, and a second LayeringPolicy.
func (in *ingest) checkClaims(ctx context.Context, change *Change) error {
	var claimed []document.Identity
	for _, doc := range change.Added {
		if doc.Place == doc.ID { // the others were in these buckets before
			claimed = append(claimed, doc.Identity)
		}
	}
	if len(claimed) == 0 {
		return nil
	}
	claims, err := in.service.Store.Claims(ctx, claimed)
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
	wanted := make(map[document.Identity]bool, len(claimed))
	for _, identity := range claimed {
		wanted[identity] = true
	}
	for _, claim := range claims {
		if wanted[claim.Identity] && !in.owned[claim.Bucket] {
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
