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

// String returns the word that the API uses.
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

// ParseKind parses a word that String returns.
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
	Origin    int64    // the revision that a rollback restored; may be 0
	Buckets   []string // the buckets it wrote, sorted
	Reason
	AuthorID string // of the user who authenticated; only of a revision that is being made

	Upstreams Upstreams // of the buckets in it

	// Chain is its chain value, zero if it was made by an earlier version of the server. Of ChainParts, those that are
	// read have Previous and Removed.
	Chain      document.Digest
	ChainParts ChainParts

	Entries int  // number of entries of its schema validation
	Failed  bool // whether any of these entries is a failure, or SecretFails
	// SecretFails reports whether one of the server's validations fails because of something that depends on a secret.
	// All of them that look at values fail then: see package changes.
	SecretFails bool
	// SecretOutside is the number of entries at the end that are failures which depend on secrets.
	SecretOutside int
	// ClientVersions is the digest of the client versions that it was judged with, zero if there were none.
	ClientVersions document.Digest
	// Inapplicable are the requirements of its policies that do not apply to it, by their positions among all of them.
	Inapplicable []int
	Tags         []string
}

// Caller is the user who authenticated for a request; zero if nobody did.
type Caller struct {
	ID     string
	Name   string // the ID, if there is no name
	Server bool   // the server itself, whose results are no approvals
}

// Reason says who made a change, why, and from what; each may be empty.
type Reason struct {
	User    string
	Message string
	Source  Source
}

// Tag is a name with data attached to a revision by a user.
type Tag struct {
	Name string
	Data []byte // JSON text of a mapping
}

// Bounds of the tags of a revision: their number, and the bytes of their names and their data. Every answer about the
// revision has all of them.
const (
	MaxTags     = 1000
	MaxTagBytes = 4 << 20
)

// Bounds of the validations that have results about one revision: their number, and the bytes of their names. Every
// status has all of them.
const (
	MaxValidations     = 10_000
	MaxValidationBytes = 256 << 10
)

// Purge records that all revisions were deleted.
type Purge struct {
	Reason

	At time.Time
}

// Pruned counts what a prune deletes.
type Pruned struct {
	Head      Head    // the newest revision
	Revisions []int64 // in order
	Remaining int     // revisions that were not pruned
	Documents int     // versions of documents
	Contents  int
	Bytes     int64 // the size of these contents in the database, without its overhead
}
