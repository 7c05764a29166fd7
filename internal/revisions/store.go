package revisions

import (
	"context"
	"errors"
	"time"

	"purser/internal/document"
	"purser/internal/validations"
)

// ErrStale says that the state a change was planned against is no longer the newest.
var ErrStale = errors.New("the site changed meanwhile")

// Head is the newest state of the site.
type Head struct {
	Epoch        int64 // counts purges
	Revision     int64 // the newest revision, 0 if there is none
	LastDocument int64 // the last document id given out
}

// Stored is a version of a document in the store.
type Stored struct {
	*document.Document

	ID       int64
	Place    int64 // where it stands among the documents of a revision
	Bucket   string
	Revision int64 // the one that brought this version
	Kept     bool  // the store keeps this very value in memory and gives it out again
}

// Bucket is the newest state of a bucket.
type Bucket struct {
	Head

	Name      string
	Changed   int64 // the revision that changed it last, 0 if the bucket never had a document
	Documents []*Stored
}

// Revision is an immutable state of the site.
type Revision struct {
	ID        int64
	CreatedAt time.Time
	Buckets   []string // those it wrote, sorted
	Entries   int      // of its schema validation
	Failed    bool     // whether one of these is a failure
}

// Failure is an entry of a revision's schema validation that is no plain success.
type Failure struct {
	Entry    int
	Document int64
	Rule     validations.Rule // zero if there is nothing but notes
	Notes    []document.Note
}

// Pair is a check that may be made: of a content by a rule.
type Pair struct {
	Content document.Digest
	Rule    validations.Rule
}

// Name is what the check is known by.
func (p Pair) Name() validations.Pair { return validations.PairOf(p.Content, p.Rule) }

// Check is the outcome of a check; no findings are a success.
type Check struct {
	Pair

	Findings []validations.Finding
}

// Change is what one revision changes.
type Change struct {
	Against  Bucket // the state it was planned against
	Revision Revision
	Added    []*Stored
	Removed  []*Stored // deleted or replaced
	Checks   []Check
	Failures []Failure
	Result   []*Stored // the bucket's documents afterwards
}

// PolicyVersion is a ValidationPolicy and the revisions it is in force for: from Since on, before Until.
type PolicyVersion struct {
	validations.Policy

	Since, Until int64 // Until is 0 while it is in force
}

// Standing is what the verdicts on revisions rest on.
type Standing struct {
	Revisions []Revision
	// Policies are the ValidationPolicies in force in any of the revisions, in order of place.
	Policies []PolicyVersion
	// Outcomes are the latest posted results of each name, by revision.
	Outcomes map[int64][]validations.Outcome
}

// FailedEntry is a Failure with the document it is about.
type FailedEntry struct {
	Failure

	About *Stored
}

// Wanted says which entries that are no plain success are to be read.
type Wanted struct {
	From         int  // the first entry that may be one
	Limit        int  // how many at most; 0 means all
	FailuresOnly bool // leave out those with nothing but notes
	MessagesOnly bool // leave out what surrounds the errors
}

// Store keeps the site. Faults: NotFound for a revision that does not exist, Unavailable if the database does not
// answer. What a method returns must not be changed: it may be shared.
type Store interface {
	BucketStore
	CheckStore
	RevisionStore
	ResultStore
}

// BucketStore keeps the newest state of the site, and makes the next.
type BucketStore interface {
	// Bucket returns the newest state of a bucket, all of it of one moment.
	Bucket(ctx context.Context, name string) (Bucket, error)
	// Remember tells that the bucket's documents were read from these texts too; it may be forgotten at any time.
	Remember(bucket Bucket, documents []*Stored)
	// Claims returns the live documents that have one of the identities, and the live LayeringPolicy if there is one.
	Claims(ctx context.Context, identities []document.Identity) ([]*Stored, error)
	// OfKinds returns the live documents with one of the schemas, in order of place.
	OfKinds(ctx context.Context, schemas []string) ([]*Stored, error)
	// Registered returns the live DataSchemas with one of the names, in order of place.
	Registered(ctx context.Context, names []string) ([]*Stored, error)
	// Append stores a revision, all of it or nothing. ErrStale if its base is no longer the newest state.
	Append(ctx context.Context, change Change) error
}

// CheckStore keeps what was found by checking contents, and in which revisions that matters.
type CheckStore interface {
	// Checked returns the outcomes of those checks that were made before, by the name of the pair.
	Checked(ctx context.Context, pairs []Pair) (map[validations.Pair][]validations.Finding, error)
	// Contents returns the texts of contents by digest; what does not exist is left out.
	Contents(ctx context.Context, digests []document.Digest) (map[document.Digest][]byte, error)
	// Failures returns the entries of a revision's schema validation that are no plain success, in order.
	Failures(ctx context.Context, revision int64) ([]Failure, error)
	// FailedEntries is Failures with the documents they are about, as far as they are wanted.
	FailedEntries(ctx context.Context, revision int64, wanted Wanted) ([]FailedEntry, error)
}

// RevisionStore keeps the states that the site has been in.
type RevisionStore interface {
	// Latest returns the newest revision's number, 0 if there is none.
	Latest(ctx context.Context) (int64, error)
	// Standing returns the revisions from first to last that exist, in order, and what their verdicts rest on.
	Standing(ctx context.Context, first, last int64) (Standing, error)
	// Documents returns the documents of a revision in order of place.
	Documents(ctx context.Context, revision int64) ([]*Stored, error)
	// Purge deletes everything; numbers begin again at 1.
	Purge(ctx context.Context) error
}

// ResultStore keeps the results that others post.
type ResultStore interface {
	// AddResult appends a posted result. NotFound if the revision does not exist.
	AddResult(ctx context.Context, revision int64, result validations.Result) error
	// Results returns the posted results of a revision in order; only those of a name if it is not empty.
	Results(ctx context.Context, revision int64, name string) ([]validations.Result, error)
	// WorstResults returns the alphabetically smallest status posted under each name, which is the worst one.
	WorstResults(ctx context.Context, revision int64) (map[string]string, error)
}
