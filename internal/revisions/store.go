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

// Store keeps the site. Faults: NotFound for a revision that does not exist, Unavailable if the database does not
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
	// Append stores a commit as the next revision, all of it or nothing, and returns it with the numbers that it was
	// given. ErrMoved if something that it depends on has changed.
	Append(ctx context.Context, commit Commit) (Commit, error)

	// Prune deletes all revisions but the newest keep and those with tags, all at once, and then whatever none of the
	// remaining needs; the next one does what this one leaves undone. A dry run only reports it. Stale unless the head is
	// one that the options expect.
	Prune(ctx context.Context, keep int, options Options) (Pruned, error)
	// Purge deletes everything; numbers begin again at 1. Stale unless the head is one that is expected.
	Purge(ctx context.Context, purge Purge, expected Expected) error

	// Around describes what exists around a revision number.
	Around(ctx context.Context, revision int64) (Neighbourhood, error)
	// Tag gives a revision a tag, or the tag other data. NotFound if the revision does not exist.
	Tag(ctx context.Context, revision int64, tag Tag) error
	// Untag removes tags from a revision, all of them if none is named, and returns how many it had of them.
	Untag(ctx context.Context, revision int64, names ...string) (int, error)
	// AddResult appends a posted result. NotFound if the revision does not exist.
	AddResult(ctx context.Context, revision int64, result validations.Result) error

	// Outdated returns secrets that are not sealed with a prefix, those behind a digest in order of digest.
	Outdated(ctx context.Context, prefix []byte, after document.Digest, limit int) ([]SealedContent, error)
	// Reseal replaces a sealed secret, unless it has been replaced meanwhile.
	Reseal(ctx context.Context, content SealedContent, sealed []byte) error
}

// Neighbourhood is what exists around a revision number.
type Neighbourhood struct {
	Head

	Exists         bool
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
