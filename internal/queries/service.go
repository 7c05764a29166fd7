package queries

import (
	"context"
	"time"

	"purser/internal/authz"
	"purser/internal/cache"
	"purser/internal/document"
	"purser/internal/judging"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Config holds the dependencies and limits of a Service. All fields but the Renderer's Vault and Defaults must be set.
type Config struct {
	Store    Store
	Renderer judging.Renderer
	// Rendered caches rendered revisions.
	Rendered *judging.RenderCache
	// DefaultValidations count where no policy is in force.
	DefaultValidations revisions.Defaults
}

// Service answers questions about the revisions of one site, each for a viewer. It is safe for concurrent use.
type Service struct {
	store    Store
	renderer judging.Renderer
	cache    *judging.RenderCache
	defaults revisions.Defaults

	// warned caches the warnings about revisions.
	warned *cache.Cache[judging.RenderKey, []string]
	// counts caches the numbers of findings about newest revisions.
	counts *cache.Cache[countsKey, map[Counted]int]
	// Concurrent calls with the same question share the answer; it is not cached.
	explanations *cache.Cache[explanationKey, Explanation]
	graphs       *cache.Cache[graphKey, Graph]
}

// warnedSize and countsSize bound these caches, in bytes.
const warnedSize, countsSize = 1 << 20, 1 << 20

// NewService returns a service over a store.
func NewService(config Config) *Service {
	return &Service{
		config.Store, config.Renderer, config.Rendered, config.DefaultValidations,
		cache.New[judging.RenderKey, []string](warnedSize), cache.New[countsKey, map[Counted]int](countsSize),
		cache.New[explanationKey, Explanation](0), cache.New[graphKey, Graph](0),
	}
}

// For returns the view of a viewer. All questions are asked through a view.
func (s *Service) For(viewer authz.Viewer) View { return View{s, viewer, nil} }

// View answers the questions of one viewer. Who may not see encrypted documents sees a site without them: what is
// rendered and explained for such a viewer is made of the other documents alone.
type View struct {
	*Service

	viewer authz.Viewer
	fresh  *time.Duration // see Noting; may be nil
}

// Noting returns a view that notes how long the verdicts in its answers last if nobody changes anything: until a result
// expires. 0 stands for no end.
func (v View) Noting(fresh *time.Duration) View {
	v.fresh = fresh
	return v
}

// Store reads revisions. Faults: NotFound for a revision that does not exist, Unavailable if the database does not
// answer. What a method returns must not be modified: it may be shared.
//
//nolint:interfacebloat // one question each
type Store interface {
	// Latest returns the newest revision's number, 0 if there is none.
	Latest(ctx context.Context) (int64, error)
	// Tagged returns the newest revision with a tag, 0 if there is none.
	Tagged(ctx context.Context, tag string) (int64, error)
	// Around describes what exists around a revision number.
	Around(ctx context.Context, revision int64) (revisions.Neighbourhood, error)
	// List returns the numbers of the revisions that a query asks for, in its order, and the last purge, nil if there was
	// none.
	List(ctx context.Context, query Query) ([]int64, *revisions.Purge, error)
	// Evidence returns those of the revisions that exist, in order of number, and what their verdicts rest on.
	Evidence(ctx context.Context, revisions []int64) (Evidence, error)
	// EvidenceOf is Evidence about the revision with a name, if it exists, without its tags.
	EvidenceOf(ctx context.Context, name Name) (Evidence, error)
	// Tags returns those of a revision's tags that have one of the names, all of them if none is named, sorted.
	Tags(ctx context.Context, revision int64, names ...string) ([]revisions.Tag, error)

	// Buckets returns a page of the buckets by name, without counting encrypted documents if only cleartext is wanted.
	Buckets(ctx context.Context, page Page, cleartext bool) ([]Bucket, error)

	// Boundaries returns where versions of a document begin and end, as a query asks for, the newest first, and whether
	// some of them are left out for their size.
	Boundaries(ctx context.Context, query BoundaryQuery) (boundaries []Boundary, cut bool, err error)

	// Documents returns the documents of a revision that a selection asks for, in its order; beyond its MaxBytes it only
	// outlines them.
	Documents(ctx context.Context, revision int64, selection Selection) (Selected, error)
	// AllDocuments returns all documents of the revision with a number and a stamp, in order of place, without asking the
	// database if it has them in memory; of another stamp if the number stands for another revision.
	AllDocuments(ctx context.Context, revision int64, stamp revisions.Stamp) (Selected, error)
	// Ranks returns the ranks, by the sort keys, of the documents that Documents returns, by id; documents that are equal
	// in all keys share one.
	Ranks(ctx context.Context, revision int64, selection Selection) (map[int64]int, error)
	// Versions calls do for versions of documents that a selection found, in the order of their ids, and returns how many
	// exist; none if the revision is another one by now. It reads the contents as they are stored first, and unpacks them
	// one by one.
	Versions(ctx context.Context, of Selected, ids []int64, do func(*revisions.Stored) error) (found int, err error)
	// Kinds returns the numbers of concrete documents of a revision by their schema, and the names of its DataSchemas;
	// cleartext leaves encrypted documents out.
	Kinds(ctx context.Context, revision int64, cleartext bool) (documents map[string]int, registered []string, err error)
	// FallbackPolicy returns the LayeringPolicy of a revision that has none: the newest one that was written until
	// then, or else the newest of all, even if it was removed since; nil if there never was one (spec/api.md §0 D14).
	FallbackPolicy(ctx context.Context, revision int64) (*revisions.Stored, error)
	// Compare returns the difference of two revisions; 0 is a revision without documents.
	Compare(ctx context.Context, before, after int64) (revisions.Comparison, error)

	// Failures returns the entries of a revision's schema validation that are more than a plain success, in order. This
	// and what else is asked about a revision that was found before ends with NotFound if the revision is deleted by now,
	// or another one with its number.
	Failures(ctx context.Context, of revisions.Revision, query EntryQuery) ([]revisions.Failure, error)
	// FailedEntries is Failures with the documents they are about, and with notes.
	FailedEntries(ctx context.Context, of revisions.Revision, query EntryQuery) ([]revisions.FailedEntry, error)
	// Checked returns the outcomes of those checks that were made before, by the name of the pair.
	Checked(ctx context.Context, pairs []revisions.Pair) (map[validations.Pair][]validations.Finding, error)
	// Contents returns the texts of contents by digest; those that do not exist are left out.
	Contents(ctx context.Context, digests []document.Digest) (map[document.Digest][]byte, error)
	// Archive returns the archive of the package that a content describes, nil if there is none.
	Archive(ctx context.Context, content document.Digest) ([]byte, error)
	// Reported returns the results posted about a revision in order, without their errors; only those of a name if it is
	// not empty.
	Reported(ctx context.Context, of revisions.Revision, name string) ([]Reported, error)
	// ResultErrors returns the errors of posted results by id, as JSON lists.
	ResultErrors(ctx context.Context, of revisions.Revision, ids []int64) (map[int64][]byte, error)
	// WorstResults returns the alphabetically smallest status posted under each name, which is the worst one.
	WorstResults(ctx context.Context, of revisions.Revision) (map[string]string, error)
}

// Audit stores audit events permanently. Fault: Unavailable if the database does not answer.
type Audit interface {
	// Record adds an event and assigns its id.
	Record(ctx context.Context, event revisions.AuditEvent) error
	// AuditEvents returns a page of the events that a query asks for, the newest first, and whether there are more behind
	// it.
	AuditEvents(ctx context.Context, query AuditQuery) (events []revisions.AuditEvent, more bool, err error)
}

// AuditQuery restricts audit events. Zero fields do not restrict.
type AuditQuery struct {
	Page

	Revision     int64
	User         string    // the id or the name of a user
	Since, Until time.Time // from the one on, before the other
}

// Evidence holds the facts that verdicts on revisions are derived from.
type Evidence struct {
	Now       time.Time // by the database's clock
	Revisions []revisions.Revision
	// Policies are the ValidationPolicies in force in any of the revisions, in order of place.
	Policies []revisions.PolicyVersion
	// Outcomes are the latest posted results of each name, by revision.
	Outcomes map[int64][]validations.Outcome
}

// Outline is a document without its content.
type Outline struct {
	ID   int64
	Size int // of the content, in bytes
}

// Selected are documents of a revision.
type Selected struct {
	Documents []*revisions.Stored // as far as they have been read
	Rest      []Outline           // the others, in order
	More      bool                // there are others behind the limit
	Revision  int64
	Stamp     revisions.Stamp // of the revision
	// Provisional says that the same question may have another answer later.
	Provisional bool
}

// first returns the first documents up to a limit, none if it is negative.
func (s Selected) first(limit int) Selected {
	if s.More = limit >= 0 && limit < len(s.Documents)+len(s.Rest); s.More {
		s.Documents = s.Documents[:min(limit, len(s.Documents))]
		s.Rest = s.Rest[:limit-len(s.Documents)]
	}
	return s
}
