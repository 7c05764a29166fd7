package revisions

import (
	"fmt"
	"time"

	"purser/internal/document"
)

// Kind is how a revision came about.
type Kind uint8

// The kinds of revision.
const (
	Put       Kind = iota // one bucket was filled
	ChangeSet             // several buckets were filled at once
	Rollback              // an earlier revision was restored
)

// String gives the word that the API uses.
func (k Kind) String() string {
	switch k {
	case Put:
		return "put"
	case ChangeSet:
		return "changeset"
	case Rollback:
		return "rollback"
	}
	return "unknown"
}

// ParseKind reads the word that String gives.
func ParseKind(word string) (Kind, error) {
	for kind := range Rollback + 1 {
		if kind.String() == word {
			return kind, nil
		}
	}
	return 0, fmt.Errorf("no kind of revision: %q", word)
}

// Revision is an immutable state of the site. Only its tags change.
type Revision struct {
	ID        int64
	Stamp     Stamp
	CreatedAt time.Time
	Kind      Kind
	Origin    int64    // the revision that a rollback restored, which may be 0
	Buckets   []string // those it wrote, sorted
	Reason

	Entries int  // of its schema validation
	Failed  bool // whether one of these is a failure
	// ClientVersions is the digest of the versions that it was judged with, zero if there were none.
	ClientVersions document.Digest
	Tags           []string
}

// Reason says who made a change and why; either may be empty.
type Reason struct {
	User    string
	Message string
}

// Tag is a name that somebody gave to a revision.
type Tag struct {
	Name string
	Data []byte // JSON text of a mapping
}

// Purge is that all revisions were deleted.
type Purge struct {
	Reason

	At time.Time
}

// Pruned counts what a prune deletes.
type Pruned struct {
	Revisions []int64 // in order
	Remaining int     // revisions that were not pruned
	Documents int     // versions of documents
	Contents  int
	Bytes     int64 // that these take in the database, without its overhead
}
