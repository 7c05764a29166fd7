package revisions

import (
	"context"
	"strconv"
	"strings"

	"purser/internal/authz"
	"purser/internal/fault"
)

// Options are the conditions of a change.
type Options struct {
	Reason

	Caller   Caller
	Expected Expected
	// Claim is the claim that a result ends; empty for none.
	Claim string
	// DryRun only reports what would happen.
	DryRun bool
	// Rendered asks a dry run for the rendered documents that would change.
	Rendered bool
	// MaxDeleted is the largest number of documents that the change may delete; nil means no limit.
	MaxDeleted *int
	// MaxDocuments is the limit of live documents that the site has of its own; nil means that of the server.
	MaxDocuments *int64
	// CleartextOnly refuses to store, replace or delete encrypted documents.
	CleartextOnly bool
	// Copied are the upstreams of the buckets of a payload that was copied from another site; nil for a body. Detach lets
	// a body replace buckets that have an upstream.
	Copied Upstreams
	Detach bool
	// Promotion returns the condition that the copied revision is a success, and fails if it is none; nil for no
	// condition.
	Promotion func(context.Context) (Promotion, error)
	// WithoutUse refuses a change that makes documents depend on encrypted ones, or check them.
	WithoutUse bool
	// Viewer is the user who sees the outcome. If the viewer may not see encrypted documents, a dry run judges neither
	// these nor documents that take something from them, because trying out schemas would reveal their contents.
	Viewer authz.Viewer
	// Audit is recorded together with the change, with the number of a new revision filled in; nil records nothing.
	Audit *AuditEvent
	// OnPlanned, if not nil, is called in its own goroutine with the new versions of documents while they are being
	// stored. The change does not end before it returns. It may be called more than once.
	OnPlanned func(documents []*Stored)
}

// Expected lists the acceptable newest states; nil accepts any.
type Expected []Version

// Version is a state of the site that a client has seen.
type Version struct {
	Revision int64 // negative for any revision except 0
	Stamp    Stamp // 0 for any
}

func (v Version) is(head Head) bool {
	if v.Revision < 0 {
		return head.Revision > 0
	}
	return v.Revision == head.Revision && (v.Stamp == 0 || v.Stamp == head.Stamp)
}

// Check returns a Stale fault if the newest state is not one of the expected ones.
func (e Expected) Check(head Head) error {
	if e == nil {
		return nil
	}
	var seen []string
	message := ""
	for _, version := range e {
		if version.is(head) {
			return nil
		}
		if version.Revision >= 0 {
			seen = append(seen, strconv.FormatInt(version.Revision, 10))
		}
		if version.Revision == head.Revision {
			message = ", and it is another one: all revisions were deleted in between, or the database was restored"
		}
	}
	if len(seen) == 0 {
		message = "If-Match asks for any revision, but there is none yet"
	} else {
		message = "If-Match asks for revision " + strings.Join(seen, " or ") + ", but the newest is " +
			strconv.FormatInt(head.Revision, 10) + message
	}
	stale := fault.New(fault.Stale, "HTTPPreconditionFailed",
		"%s; nothing was changed. Look at the newer revisions, then send the request again for the newest one", message)
	stale.Metadata = map[string]any{"revision": head.Revision}
	return stale.Because(&Stale{head})
}

// Only returns the expectation of one version, which no state meets unless the former expectation accepts it.
func (e Expected) Only(v Version) Expected {
	if e.Check(Head{Revision: v.Revision, Stamp: v.Stamp}) != nil {
		return Expected{}
	}
	return Expected{v}
}

// About returns the part of the options that a store needs to write to a revision.
func (o Options) About(revision int64) About {
	return About{revision, o.Expected.stamps(revision), o.Caller, o.Claim, o.Audit}
}

// stamps returns the stamps that a revision may have; nil for any.
func (e Expected) stamps(revision int64) []Stamp {
	if e == nil {
		return nil
	}
	stamps := []Stamp{}
	for _, version := range e {
		switch {
		case version.Revision < 0, version.Revision == revision && version.Stamp == 0:
			return nil
		case version.Revision == revision:
			stamps = append(stamps, version.Stamp)
		}
	}
	return stamps
}

// Replaced returns the fault for a request about a revision that has been replaced by another with the same number.
func Replaced(around Neighbourhood, revision int64) error {
	stale := fault.New(fault.Stale, "HTTPPreconditionFailed",
		"Revision %d has the stamp %v, and If-Match or revision-stamp names another one, or another revision than the path: "+
			"it is mistyped, or that of another revision %[1]d, from before all revisions were deleted or the database was "+
			"restored. Nothing was changed. Look at the revision again, then send the request with its stamp",
		revision, around.Stamp)
	stale.Metadata = map[string]any{"revision": revision, "stamp": around.Stamp.String()}
	return stale.Because(&Stale{Head{Revision: revision, Stamp: around.Stamp}})
}

// Stale is the cause of the fault of a change that expected another state. Head is the newest state.
type Stale struct{ Head Head }

func (s *Stale) Error() string {
	return "the newest revision is " + strconv.FormatInt(s.Head.Revision, 10)
}
