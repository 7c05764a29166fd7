package revisions

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations"
)

// Head is the newest state of the site, as its counters describe it.
type Head struct {
	Epoch        int64 // number of purges
	Stamp        Stamp // of the newest revision; of the last purge if there is none
	Prunes       int64 // number of prunes that have deleted revisions or outcomes of checks
	Revision     int64 // the newest revision, 0 if there is none
	LastDocument int64 // the last document ID that was used
	Live         int   // number of documents in the newest revision
	Texts        int64 // the last block of texts, counted anew whenever live documents or upstreams are given others
}

// Bucket is the newest state of a bucket.
type Bucket struct {
	Name      string
	Changed   int64 // the revision that last changed it, 0 if it never had a document
	Stamp     Stamp // of that revision
	Reread    Stamp // of the last time that its documents were given other texts without a revision
	Documents []*Stored

	byText map[document.Digest]*Stored // Documents by the text they were read from
}

// NewBucket returns a bucket with its documents.
func NewBucket(name string, changed int64, stamp Stamp, documents []*Stored) Bucket {
	b := Bucket{name, changed, stamp, 0, documents, make(map[document.Digest]*Stored, len(documents))}
	for _, doc := range documents {
		if !doc.Segment.IsZero() {
			b.byText[doc.Segment] = doc
		}
	}
	return b
}

// Need lists the parts of the site to read. The zero value reads only the head.
type Need struct {
	Buckets    []string            // buckets, with their documents
	Identities []document.Identity // live documents with these identities, and the live LayeringPolicy
	Contents   []document.Digest   // report which of these the store has
	Kinds      []string            // live DataSchemas registered for these schemas
	Schemas    bool                // all live DataSchemas
	Governed   []string            // live documents of these schemas
	Checks     []Pair              // outcomes of these checks
	Evidence   bool                // what judging needs: policies, violations, client versions, the newest revision
	Documents  bool                // all live documents, and the LayeringPolicy to use if they include none
	Preview    bool                // what a preview needs: occupied buckets, failing documents, outcomes
	Positions  bool                // the order of all live documents
	Inputs     []string            // the newest inputs of results of these validations
	Target     *int64              // what rolling back to this revision needs: a comparison, its results, notes
	Votes      []Ballot            // votes
}

// Ballot names the votes on a validation of a revision.
type Ballot struct {
	Revision   int64
	Validation string
}

// Ballots returns the ballots of validations of a revision.
func Ballots(revision int64, names []string) (ballots []Ballot) {
	for _, name := range names {
		ballots = append(ballots, Ballot{revision, name})
	}
	return ballots
}

// With returns the union of two needs, and reports whether it is larger than n.
func (n Need) With(more Need) (union Need, grown bool) {
	more = more.Beyond(n)
	target := n.Target
	if target == nil {
		target = more.Target
	}
	return Need{
		Buckets:    slices.Concat(n.Buckets, more.Buckets),
		Identities: slices.Concat(n.Identities, more.Identities),
		Contents:   slices.Concat(n.Contents, more.Contents),
		Kinds:      slices.Concat(n.Kinds, more.Kinds),
		Schemas:    n.Schemas || more.Schemas,
		Governed:   slices.Concat(n.Governed, more.Governed),
		Checks:     slices.Concat(n.Checks, more.Checks),
		Evidence:   n.Evidence || more.Evidence,
		Documents:  n.Documents || more.Documents,
		Preview:    n.Preview || more.Preview,
		Positions:  n.Positions || more.Positions,
		Inputs:     slices.Concat(n.Inputs, more.Inputs),
		Target:     target,
		Votes:      slices.Concat(n.Votes, more.Votes),
	}, !reflect.ValueOf(more).IsZero()
}

// Beyond returns the part of a need that a known one does not cover.
func (n Need) Beyond(known Need) Need {
	if known.Schemas {
		n.Kinds = nil
	}
	if known.Target != nil {
		n.Target = nil
	}
	return Need{
		Buckets:    Missing(n.Buckets, known.Buckets),
		Identities: Missing(n.Identities, known.Identities),
		Contents:   Missing(n.Contents, known.Contents),
		Kinds:      Missing(n.Kinds, known.Kinds),
		Schemas:    n.Schemas && !known.Schemas,
		Governed:   Missing(n.Governed, known.Governed),
		Checks:     Missing(n.Checks, known.Checks),
		Evidence:   n.Evidence && !known.Evidence,
		Documents:  n.Documents && !known.Documents,
		Preview:    n.Preview && !known.Preview,
		Positions:  n.Positions && !known.Positions,
		Inputs:     Missing(n.Inputs, known.Inputs),
		Target:     n.Target,
		Votes:      Missing(n.Votes, known.Votes),
	}
}

// Of returns the part of a snapshot that a need asks for of the live documents, given all of them in order of place.
func (n Need) Of(live []*Stored) (part Snapshot) {
	claimed, kinds, governed := setOf(n.Identities), setOf(n.Kinds), setOf(n.Governed)
	for _, doc := range live {
		if len(claimed) > 0 && (claimed[doc.Identity] || doc.IsLayeringPolicy()) {
			part.Claims = append(part.Claims, doc)
		}
		if doc.Schema == validations.DataSchemaKind && (n.Schemas || kinds[doc.Name]) {
			part.Schemas = append(part.Schemas, doc)
		}
		if governed[doc.Schema] {
			part.Governed = append(part.Governed, doc)
		}
		if n.Evidence && doc.Schema == validations.ClientVersionsKind {
			part.ClientVersions = append(part.ClientVersions, doc)
		}
	}
	if n.Documents {
		part.Documents = live
	}
	return part
}

func setOf[T comparable](items []T) map[T]bool {
	set := make(map[T]bool, len(items))
	for _, item := range items {
		set[item] = true
	}
	return set
}

// Missing returns the items that are not known, without duplicates; nil if all are known.
func Missing[T comparable](items, known []T) (unknown []T) {
	if len(items) == 0 {
		return nil
	}
	if len(items) <= len(known) && slices.Equal(items, known[:len(items)]) {
		return nil
	}
	set := make(map[T]bool, len(items)+len(known))
	for _, item := range known {
		set[item] = true
	}
	for _, item := range items {
		if !set[item] {
			set[item] = true
			unknown = append(unknown, item)
		}
	}
	return unknown
}

// Snapshot is the part of the site that a Need asked for, at one moment.
type Snapshot struct {
	Head

	Now  time.Time // by the database's clock
	Held int       // bytes of memory charged to the request's budget for the snapshot

	Upstreams Upstreams // of all buckets

	Buckets  []Bucket // in the order of the Need
	Claims   []*Stored
	Contents map[document.Digest]Content
	Schemas  []*Stored // DataSchemas in order of place
	Governed []*Stored
	Checks   map[validations.Pair][]validations.Finding // nil if none were asked for

	Newest         Revision // zero if there is none
	Policies       []PolicyVersion
	Known          validations.Known // about the newest revision
	Violations     []Violation       // by live documents
	ClientVersions []*Stored         // live documents that give client versions, in order of place

	Documents []*Stored // in order of place
	Fallback  *Stored   // the LayeringPolicy to use if no live one exists; nil if there never was one

	Occupied []string  // buckets that have documents, sorted
	Failing  []*Stored // the documents that Violations are about

	Comparison *Comparison
	Carried    validations.Known // about the target of the comparison
	Votes      map[Ballot][]validations.Vote
	Noted      []*Stored                        // live documents with notes, without their contents
	Positions  []Position                       // of all live documents, in order
	Inputs     map[string]validations.Selection // of those validations that have results with inputs
}

// WasRead reports whether the snapshot was read from a store.
func (s Snapshot) WasRead() bool { return !s.Now.IsZero() }

// With returns the snapshot extended by another part of the site, read at the same head.
func (s Snapshot) With(part Snapshot, more Need) Snapshot {
	s.Held += part.Held
	s.Buckets = slices.Concat(s.Buckets, part.Buckets)
	s.Claims = slices.Concat(s.Claims, part.Claims)
	s.Contents = union(s.Contents, part.Contents)
	s.Governed = inOrder(s.Governed, part.Governed)
	s.Checks = union(s.Checks, part.Checks)
	s.Inputs = union(s.Inputs, part.Inputs)
	s.Votes = union(s.Votes, part.Votes)
	if more.Schemas {
		s.Schemas = nil
	}
	s.Schemas = inOrder(s.Schemas, part.Schemas)
	if more.Evidence {
		s.Newest, s.Policies, s.Violations = part.Newest, part.Policies, part.Violations
		s.ClientVersions = part.ClientVersions
	}
	if more.Documents {
		s.Documents, s.Fallback = part.Documents, part.Fallback
	}
	if more.Preview {
		s.Known, s.Occupied, s.Failing = part.Known, part.Occupied, part.Failing
	}
	if more.Positions {
		s.Positions = part.Positions
	}
	if more.Target != nil {
		s.Comparison, s.Carried, s.Noted = part.Comparison, part.Carried, part.Noted
	}
	return s
}

// union returns the entries of both maps; nil if both are nil.
func union[K comparable, V any](a, b map[K]V) map[K]V {
	if a == nil {
		return b
	}
	a = maps.Clone(a)
	maps.Copy(a, b)
	return a
}

// inOrder merges two lists of documents in order of place.
func inOrder(a, b []*Stored) []*Stored {
	return slices.SortedStableFunc(slices.Values(slices.Concat(a, b)), ByPlace)
}

// Release gives the memory charged for a snapshot back to the budget.
func (s Snapshot) Release(ctx context.Context) { budget.NewMeter(ctx).Release(s.Held) }

// Content describes a stored content.
type Content struct {
	Sealed   []byte // the sealed secret behind a reference, nil if the content is not a reference
	Archived bool   // the content describes a package whose archive is in the store
}

// Position is where a live document is in the order of a revision.
type Position struct{ ID, Place int64 }

// Pair is the check of a content by a rule.
type Pair struct {
	Content document.Digest
	Rule    validations.Rule
}

// Name returns the key under which the outcome of the check is stored.
func (p Pair) Name() validations.Pair { return validations.PairOf(p.Content, p.Rule) }

// Check is the outcome of a check; without findings it is a success.
type Check struct {
	Pair

	Findings []validations.Finding
}

// Hold asks for results of a validation that depend on documents with a digest: the newest, or the newest of each user.
type Hold struct {
	Name   string
	Digest document.Digest
	Each   bool
}

// HeldResult is a result of an earlier revision that a Hold asks for.
type HeldResult struct {
	validations.Outcome

	ID       int64
	Revision int64 // that has it, also as a copy
}

// Violation is a rule that a document violates, beginning with a revision.
type Violation struct {
	Document int64
	Since    int64
	Rule     validations.Rule
	Secret   bool // whether it is violated depends on a secret
}

// Failure is an entry of a revision's schema validation other than a success without notes.
type Failure struct {
	Entry    int
	Document int64
	Rule     validations.Rule // zero if there are only notes
	Notes    []document.Note
	Secret   bool // whether it fails depends on a secret
}

// FailedEntry is a Failure with its document.
type FailedEntry struct {
	Failure

	About *Stored
}

// PolicyVersion is a ValidationPolicy and the range of revisions in which it is in force, from Since to before Until.
type PolicyVersion struct {
	validations.Policy

	Place        int64
	Since, Until int64 // Until is 0 while it is in force
}

// Comparison is the difference between two revisions, without the contents of documents that only the older one has.
type Comparison struct {
	Head

	Target         int64           // the second of the two
	Missing        []int64         // those of the two that do not exist
	Stamps         map[int64]Stamp // of those that exist
	Removed, Added []*Stored       // only in the first, and only in the second, in order of place
	Before, After  []string        // the buckets with documents, sorted
	Upstreams      Upstreams       // in the target of a rollback
}

// Texts returns a function that finds the document in the buckets that was read from a text, nil if there is none.
func (s Snapshot) Texts() func(text document.Digest) *Stored {
	if len(s.Buckets) == 1 {
		return func(text document.Digest) *Stored { return s.Buckets[0].byText[text] }
	}
	all := map[document.Digest]*Stored{}
	for _, bucket := range s.Buckets {
		maps.Copy(all, bucket.byText)
	}
	return func(text document.Digest) *Stored { return all[text] }
}
