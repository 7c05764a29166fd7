package revisions

import (
	"context"
	"errors"

	"purser/internal/document"
	"purser/internal/validations"
)

// ErrMoved says that the state something was worked out from is no longer the newest.
var ErrMoved = errors.New("the site changed meanwhile")

// Head is the newest state of the site.
type Head struct {
	Epoch        int64 // counts purges
	Prunes       int64 // counts prunes, after which contents that were there may be gone
	Revision     int64 // the newest revision, 0 if there is none
	LastDocument int64 // the last document id given out
	Live         int   // how many documents the newest revision has
	Policed      bool  // whether one of these is a ValidationPolicy
	Versioned    bool  // whether one of these says client versions
	// ClientVersions names the client versions that the newest revision was judged with.
	ClientVersions document.Digest
}

// Stored is a version of a document in the store.
type Stored struct {
	*document.Document

	ID       int64
	Place    int64 // where it stands among the documents of a revision
	Bucket   string
	Revision int64 // the one that brought this version
	Kept     bool  // the store keeps this very value in memory and gives it out again
	Tainted  bool  // rendered with a secret in its data
}

// Bucket is the newest state of a bucket.
type Bucket struct {
	Name      string
	Changed   int64 // the revision that changed it last, 0 if the bucket never had a document
	Documents []*Stored
}

// State is the newest state of the site, as far as some of its buckets go.
type State struct {
	Head

	Buckets []Bucket
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
	Against  State // what it was planned against
	Revision Revision
	Added    []*Stored
	Removed  []*Stored // deleted, replaced or moved
	Opened   []string  // buckets that had no documents
	Emptied  []string  // buckets that have none any more
	Checks   []Check
	Failures []Failure
	// Results are those of the internal validations that policies of the revision ask for beyond that of the schemas.
	Results  []validations.Result
	rendered *rendition // nil if it was not asked for
	// Result is what the payload left in its buckets, in order of the payload. It is nil for a rollback, which has
	// none: the entries of its schema validation are about all documents of the revision.
	Result []*Stored
}

// PolicyVersion is a ValidationPolicy and the revisions it is in force for: from Since on, before Until.
type PolicyVersion struct {
	validations.Policy

	Place        int64
	Since, Until int64 // Until is 0 while it is in force
}

// Standing is what the verdicts on revisions rest on.
type Standing struct {
	Epoch     int64 // purges there were before
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

// Selected are documents of a revision.
type Selected struct {
	Documents []*Stored
	More      bool  // there are others behind the limit
	Epoch     int64 // purges there were before
	Passing   bool  // they may come out differently another time
}

// Comparison is how the documents of two revisions differ, without their contents.
type Comparison struct {
	Head

	Missing       []int64   // of the two, those that do not exist
	Gone, Come    []*Stored // what only the one has, and what only the other, in order of place
	Before, After []string  // the buckets that have documents, sorted
}

// Neighbourhood is what is left around a revision number.
type Neighbourhood struct {
	Head

	Exists         bool
	Previous, Next int64 // 0 if there is none
}

// Position is where a live document stands in the order of a revision.
type Position struct{ ID, Place int64 }

// Store keeps the site. Faults: NotFound for a revision that does not exist, Unavailable if the database does not
// answer. What a method returns must not be changed: it may be shared.
type Store interface {
	BucketStore
	CheckStore
	RevisionStore
	DocumentStore
	TagStore
	ResultStore
}

// BucketStore keeps the newest state of the site, and makes the next.
type BucketStore interface {
	// Buckets returns the newest state of buckets, all of it of one moment and in the order they are named.
	Buckets(ctx context.Context, names []string) (State, error)
	// Remember tells that the buckets' documents were read from these texts too; it may be forgotten at any time.
	Remember(state State, documents []*Stored)
	// Claims returns the live documents that have one of the identities, and the live LayeringPolicy if there is one.
	Claims(ctx context.Context, identities []document.Identity) ([]*Stored, error)
	// OfKinds returns the live documents with one of the schemas, in order of place.
	OfKinds(ctx context.Context, schemas []string) ([]*Stored, error)
	// Registered returns the live DataSchemas with one of the names, in order of place.
	Registered(ctx context.Context, names []string) ([]*Stored, error)
	// Noted returns the live documents that have notes, without their contents.
	Noted(ctx context.Context) ([]*Stored, error)
	// Positions returns where the live documents stand, in order.
	Positions(ctx context.Context) ([]Position, error)
	// Append stores a revision, all of it or nothing. ErrMoved if its base is no longer the newest state.
	Append(ctx context.Context, change Change) error
}

// CheckStore keeps what was found by checking contents, and in which revisions that matters.
type CheckStore interface {
	// Checked returns the outcomes of those checks that were made before, by the name of the pair.
	Checked(ctx context.Context, pairs []Pair) (map[validations.Pair][]validations.Finding, error)
	// Contents returns the texts of contents by digest; what does not exist is left out.
	Contents(ctx context.Context, digests []document.Digest) (map[document.Digest][]byte, error)
	// Sealed returns the sealed secrets of contents by digest; of what has none it is left out.
	Sealed(ctx context.Context, digests []document.Digest) (map[document.Digest][]byte, error)
	// Outdated returns secrets that are not sealed with a prefix, those behind a digest in order of digest.
	Outdated(ctx context.Context, prefix []byte, after document.Digest, limit int) ([]SealedContent, error)
	// Reseal stores a secret that was sealed again, unless somebody else did so meanwhile.
	Reseal(ctx context.Context, content SealedContent, sealed []byte) error
	// Failures returns the entries of a revision's schema validation that are no plain success, in order.
	Failures(ctx context.Context, revision int64) ([]Failure, error)
	// FailedEntries is Failures with the documents they are about, as far as they are wanted.
	FailedEntries(ctx context.Context, revision int64, wanted Wanted) ([]FailedEntry, error)
}

// RevisionStore keeps the states that the site has been in.
type RevisionStore interface {
	// Latest returns the newest revision's number, 0 if there is none.
	Latest(ctx context.Context) (int64, error)
	// Around tells what is left around a revision number.
	Around(ctx context.Context, revision int64) (Neighbourhood, error)
	// List returns the numbers of the revisions that a query asks for, in its order.
	List(ctx context.Context, query Query) ([]int64, error)
	// Standing returns those of the revisions that exist, in order of number, and what their verdicts rest on.
	Standing(ctx context.Context, revisions []int64) (Standing, error)
	// Prune deletes all revisions but the newest, as many as keep says, and those with tags, and whatever none of the
	// remaining needs; a dry run only tells what that would be. Stale unless the head is one that the terms expect.
	Prune(ctx context.Context, keep int, terms Terms) (Pruned, error)
	// Purge deletes everything; numbers begin again at 1. Stale unless the head is one that is expected.
	Purge(ctx context.Context, purge Purge, expected Expected) error
	// Purged returns the last purge, nil if there was none.
	Purged(ctx context.Context) (*Purge, error)
}

// DocumentStore keeps the documents of the states that the site has been in.
type DocumentStore interface {
	// Documents returns the documents of a revision that a selection asks for, in its order.
	Documents(ctx context.Context, revision int64, selection Selection) (Selected, error)
	// Versions returns versions of documents by id.
	Versions(ctx context.Context, ids []int64) ([]*Stored, error)
	// Compare tells how two revisions differ; 0 is a revision without documents.
	Compare(ctx context.Context, before, after int64) (Comparison, error)
	// FallbackPolicy returns the LayeringPolicy of a revision that has none: the newest one that was written until
	// then, or else the newest of all, even if it was removed since; nil if there never was one (spec/api.md §0 D14).
	FallbackPolicy(ctx context.Context, revision int64) (*Stored, error)
	// Occupied returns the buckets that have documents in a revision, sorted.
	Occupied(ctx context.Context, revision int64) ([]string, error)
}

// TagStore keeps the names that people give to revisions.
type TagStore interface {
	// Tags returns those of a revision's tags that have one of the names, all of them if none is named, sorted.
	Tags(ctx context.Context, revision int64, names ...string) ([]Tag, error)
	// Tagged returns the newest revision with a tag, 0 if there is none.
	Tagged(ctx context.Context, tag string) (int64, error)
	// Tag gives a revision a tag, or the tag other data. NotFound if the revision does not exist.
	Tag(ctx context.Context, revision int64, tag Tag) error
	// Untag takes tags from a revision, all of them if none is named, and tells how many it had of them.
	Untag(ctx context.Context, revision int64, names ...string) (int, error)
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
