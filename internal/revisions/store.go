package revisions

import (
	"context"
	"errors"
	"time"

	"purser/internal/document"
	"purser/internal/validations"
)

// DefaultSite is the site that always exists. Requests without a site in their path are about it.
const DefaultSite = "default"

// SitePath returns the path of a site in front of that of the API, which the default site has without any.
func SitePath(site string) string {
	if site == DefaultSite {
		return ""
	}
	return "/sites/" + site
}

// ErrStaleSnapshot is returned by Append if another change was appended, or something was deleted, since the snapshot
// of the commit.
var ErrStaleSnapshot = errors.New("the site changed meanwhile")

// Store stores the site. Faults: NotFound for a revision that does not exist, Unavailable if the database does not
// answer. Returned values may be shared and must not be modified.
//
//nolint:interfacebloat // a change needs four of them; the others are one small write each
type Store interface {
	// Snapshot reads the parts of the site that a need lists, in one transaction and one round trip.
	Snapshot(ctx context.Context, need Need) (Snapshot, error)
	// Recall returns buckets as this process last read or wrote them, without asking the database; ok is false if one of
	// them is not cached.
	Recall(buckets []string) (snapshot Snapshot, ok bool)
	// Remember caches that those buckets of a snapshot that a revision made from it has changed have these documents. The
	// others are read again if they were given other texts: what is known of them must be of the time of their Reread.
	Remember(buckets []Bucket, written Revision, documents []*Stored)
	// Pack returns the data of a document in its stored form, for Commit.Packed.
	Pack(data []byte) []byte
	// Append stores a commit atomically as the next revision and returns it with its stamp. It returns ErrStaleSnapshot
	// unless the head is still the base of the commit and its promotion holds.
	Append(ctx context.Context, commit Commit) (Commit, error)

	// Reread stores what changes without a revision: texts, that the versions of the diff have these, and its upstreams.
	// It returns ErrStaleSnapshot unless the head is still the base.
	Reread(ctx context.Context, base Head, diff Diff, texts []TextBlock) error

	// Prune deletes all revisions except the newest keep and tagged ones, atomically, and then everything that no
	// remaining revision needs; the next prune finishes that if this one cannot. A dry run only reports what would be
	// deleted. Stale unless the options expect the head; Forbidden if a version of an encrypted document would be deleted
	// and the options are CleartextOnly.
	Prune(ctx context.Context, keep int, options Options) (Pruned, error)
	// Prunable returns how many revisions Prune would delete, 0 in an archived site.
	Prunable(ctx context.Context, keep int) (int, error)
	// Purge deletes everything; numbers start over at 1. Stale unless the options expect the head; Forbidden as for Prune.
	Purge(ctx context.Context, options Options) error

	// Around describes what exists around a revision number.
	Around(ctx context.Context, revision int64) (Neighbourhood, error)
	// Tag adds a tag to a revision or replaces the tag's data. It reports false if the revision does not exist.
	Tag(ctx context.Context, about About, tag Tag) (bool, error)
	// Untag removes tags from a revision, all of them if none is named. It reports false if the revision had none of them.
	Untag(ctx context.Context, about About, names ...string) (bool, error)
	// AddResult appends a posted result, timestamped now. It returns the stamp of the revision, 0 if it does not exist,
	// and those policies in force in it that could be read. Its claim must hold the work on the validation; *Repeated if
	// a result of the claim was appended before.
	AddResult(ctx context.Context, about About, result validations.Result) (Stamp, []PolicyVersion, error)

	// Held returns the successes of all revisions that holds ask for, for a revision that a user makes, by ID: none of the
	// user's own among those of each user.
	Held(ctx context.Context, holds []Hold, author string) ([]HeldResult, error)
	// Settled returns the number of the newest revision, once a change that is being appended has been. What was committed
	// before the call is known to the changes after it.
	Settled(ctx context.Context) (int64, error)
	// CarryHeld adds the results that have the name and the held documents of another one, which was posted about a
	// revision, to a later one, if that is the newest: the newest one of them, or that of each user. It adds none if
	// one is no success, and none than which the later revision has a newer one.
	CarryHeld(ctx context.Context, to Revision, from int64, each bool, like validations.Result) error
	// InForce returns the stamp of a revision, 0 if it does not exist, and the policies in force in it.
	InForce(ctx context.Context, revision int64) (Stamp, []validations.Policy, error)
	// Waive adds a waiver to a revision; the result is zero if the revision does not exist. Invalid if it ends too late or
	// has ended already, by the clock of the database; Conflict if the revision has too many.
	Waive(ctx context.Context, about About, wanted validations.WantedWaiver) (Waiver, error)
	// EndWaiver ends a waiver of a revision. It reports whether the revision exists, whether it has the waiver, and
	// whether that was active until now.
	EndWaiver(ctx context.Context, about About, id int64) (exists, has, ended bool, err error)

	// Outdated returns secrets whose sealed form does not start with prefix, ordered by digest, starting after a digest.
	Outdated(ctx context.Context, prefix []byte, after document.Digest, limit int) ([]SealedContent, error)
	// OutdatedTexts is Outdated for texts with secrets, ordered by the number of their blocks.
	OutdatedTexts(ctx context.Context, prefix []byte, after int64, limit int) ([]SealedContent, error)
	// Sealed counts the secrets of all sites.
	Sealed(ctx context.Context) (int, error)
	// Reseal replaces a sealed secret, unless it has changed since it was read.
	Reseal(ctx context.Context, content SealedContent, sealed []byte) error
	// ForgetSealed drops sealed secrets of all sites from memory, where they may be as they were before they were sealed
	// again.
	ForgetSealed()
}

// SealedContent is a sealed secret in the store with the reference to it.
type SealedContent struct {
	Digest    document.Digest // of the content; zero for a text
	Block     int64           // of the text; 0 for a content
	Reference string
	Sealed    []byte
}

// Repeated is the error of a result whose claim another result has ended before: that of the same worker, which does
// not know whether it was stored.
type Repeated struct {
	First validations.Result
	Stamp Stamp // of the revision
}

func (r *Repeated) Error() string {
	return "a result of the claim to " + r.First.Name + " was stored before"
}

// About names the revision that a tag or a result belongs to.
type About struct {
	Revision int64
	Stamps   []Stamp     // the acceptable stamps of the revision; nil for any
	Caller   Caller      // who writes
	Claim    string      // the claim that a result ends; empty for none
	Audit    *AuditEvent // recorded if the write changes anything; nil records nothing
}

// Neighbourhood is what exists around a revision number.
type Neighbourhood struct {
	Head

	Exists         bool
	Stamp          Stamp  // of the revision, if it exists
	AuthorID       string // as in Revision
	Previous, Next int64  // 0 if there is none
}

// AuditEvent is the record of a request for a change by a known caller, and its outcome.
type AuditEvent struct {
	ID       int64 // in the order of recording
	At       time.Time
	UserID   string
	UserName string // empty if unknown, like the fields below
	Project  string
	EndUser  string // the user that the caller says the change is for
	Rule     string // the policy rule that the caller had to pass
	Method   string
	Target   string // path and query
	Revision int64  // the revision made, or the one that the change was about; 0 if neither
	Status   int    // of the answer
	Error    string // errorType of the answer; empty if there is none
	Remote   string // address of the client
	Request  string // id of the request
}
