package revisions

import (
	"context"
	"errors"
	"time"

	"purser/internal/document"
	"purser/internal/validations"
)

// ErrMoved is the error of appending a change that depends on something that has changed since its snapshot.
var ErrMoved = errors.New("the site changed meanwhile")

// Store stores the site. Faults: NotFound for a revision that does not exist, Unavailable if the database does not
// answer. What a method returns must not be modified: it may be shared.
//
//nolint:interfacebloat // a change needs four of them; the others are one small write each
type Store interface {
	// Snapshot reads the parts of the site that need names, in one transaction and one round trip.
	Snapshot(ctx context.Context, need Need) (Snapshot, error)
	// Recall returns buckets as they were when they were last read or written here, without asking the database; ok is
	// false if one of them is not known.
	Recall(buckets []string) (snapshot Snapshot, ok bool)
	// Remember notes that the buckets of a snapshot hold documents that were read from these texts.
	Remember(snapshot Snapshot, documents []*Stored)
	// Pack returns the data of a document in the form that Commit.Packed holds.
	Pack(data []byte) []byte
	// Append stores a commit as the next revision, all of it or nothing, and returns it with the numbers that it was
	// given. ErrMoved if something that it depends on has changed.
	Append(ctx context.Context, commit Commit) (Commit, error)

	// Prune deletes all revisions but the newest keep and those with tags, all at once, and then whatever none of the
	// remaining needs; the next one does what this one leaves undone. A dry run only reports it. Stale unless the head is
	// one that the options expect; Forbidden if a version of an encrypted document would go, and the options are
	// CleartextOnly.
	Prune(ctx context.Context, keep int, options Options) (Pruned, error)
	// Purge deletes everything; numbers begin again at 1. Stale unless the head is one that is expected; Forbidden like
	// Prune.
	Purge(ctx context.Context, options Options) error

	// Around describes what exists around a revision number.
	Around(ctx context.Context, revision int64) (Neighbourhood, error)
	// Tag gives a revision a tag, or the tag other data. It reports false if there is no such revision.
	Tag(ctx context.Context, about About, tag Tag) (bool, error)
	// Untag removes tags from a revision, all of them if none is named. It reports false if it had none of them.
	Untag(ctx context.Context, about About, names ...string) (bool, error)
	// AddResult appends a posted result, as of now. It returns the stamp of the revision, 0 if there is no such one, and
	// the policies in force in it as far as they could be read.
	AddResult(ctx context.Context, about About, result validations.Result) (Stamp, []PolicyVersion, error)

	// Outdated returns secrets that are not sealed with a prefix, those behind a digest in order of digest.
	Outdated(ctx context.Context, prefix []byte, after document.Digest, limit int) ([]SealedContent, error)
	// Reseal replaces a sealed secret, unless it has been replaced meanwhile.
	Reseal(ctx context.Context, content SealedContent, sealed []byte) error
}

// SealedContent is a secret in the store, with the reference that stands for it.
type SealedContent struct {
	Digest    document.Digest // of the content
	Reference string
	Sealed    []byte
}

// About names the revision that a tag or a result belongs to.
type About struct {
	Revision int64
	Stamps   []Stamp     // of which it must have one; nil for any
	Audit    *AuditEvent // is recorded if the write changes anything; nil records nothing
}

// Neighbourhood is what exists around a revision number.
type Neighbourhood struct {
	Head

	Exists         bool
	Stamp          Stamp // of the revision, if it exists
	Previous, Next int64 // 0 if there is none
}

// AuditEvent is a request for a change, by a known caller, and its outcome.
type AuditEvent struct {
	ID       int64 // in the order in which events were recorded
	At       time.Time
	UserID   string
	UserName string // empty if it is not known, as what follows
	Project  string
	EndUser  string // who the caller says the change is for
	Rule     string // that the caller had to pass
	Method   string
	Target   string // path and query
	Revision int64  // that was made, or that the change was about; 0 if neither
	Status   int    // of the answer
	Error    string // errorType of the answer; empty if there is none
	Remote   string // address of the client
	Request  string // id of the request
}
