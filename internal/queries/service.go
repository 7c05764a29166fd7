package queries

import (
	"context"
	"fmt"
	"time"

	"purser/internal/authz"
	"purser/internal/cache"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Config holds the dependencies and limits of a Service. Only the Renderer's Vault and Defaults are optional.
type Config struct {
	Store    Store
	Renderer changes.Renderer
	// Rendered caches rendered revisions.
	Rendered *changes.RenderCache
	// DefaultValidations count if no policy is in force.
	DefaultValidations revisions.Defaults
}

// Service answers queries about the revisions of one site, through views. It is safe for concurrent use.
type Service struct {
	store    Store
	renderer changes.Renderer
	cache    *changes.RenderCache
	defaults revisions.Defaults

	// answers caches warnings and counts. Concurrent identical questions share their answer, even if it is not cached.
	answers *cache.Cache[any, any]
}

// answersSize limits the size of cached answers, in bytes.
const answersSize = 2 << 20

// NewService returns a service over a store.
func NewService(config Config) *Service {
	return &Service{
		config.Store, config.Renderer, config.Rendered, config.DefaultValidations, cache.New[any, any](answersSize),
	}
}

// Of returns the service of a site, which shares the caches.
func (s *Service) Of(site string, kept Store) *Service {
	of := *s
	of.renderer.Site, of.store = site, kept
	return &of
}

// shareAnswer returns the answer to a question, whose type no other question has. compute also returns how many bytes
// the answer takes in the cache; a negative number keeps it out.
func shareAnswer[K comparable, T any](ctx context.Context, s *Service, question K,
	compute func(context.Context) (T, int, error),
) (T, error) {
	found, err := s.answers.Do(ctx, question, func(ctx context.Context) (any, int, error) { return compute(ctx) })
	value, _ := found.(T)
	return value, err
}

// For returns the view of a viewer. All queries go through a view.
func (s *Service) For(viewer authz.Viewer) View { return View{Service: s, viewer: viewer} }

// readError wraps an error of reading a part of a revision, and explains it if the revision no longer exists.
func (s *Service) readError(ctx context.Context, revision int64, what string, err error) error {
	return fmt.Errorf("read %s: %w", what, revisions.Explained(ctx, s.store, revision, err))
}

// View answers the queries of one viewer. A viewer who may not see encrypted documents sees a site without them:
// rendering and explanations use only the other documents.
type View struct {
	*Service

	viewer authz.Viewer
	fresh  *time.Duration // see Noting; may be nil
	// unwaived verdicts are those without waivers.
	unwaived bool
}

// WithoutWaivers returns a view whose verdicts are those that there would be without waivers.
func (v View) WithoutWaivers() View {
	v.unwaived = true
	return v
}

// Noting returns a view that sets fresh to the time until a verdict in its answers changes because a result expires or
// a waiver ends; 0 if that does not happen.
func (v View) Noting(fresh *time.Duration) View {
	v.fresh = fresh
	return v
}

// Store reads revisions. Faults: NotFound for a revision that does not exist, Unavailable if the database does not
// answer. Returned values may be shared and must not be modified.
//
//nolint:interfacebloat // one question each
type Store interface {
	// Latest returns the number of the newest revision, 0 if there is none.
	Latest(ctx context.Context) (int64, error)
	// Tagged returns the number of the newest revision with a tag, 0 if there is none.
	Tagged(ctx context.Context, tag string) (int64, error)
	// Around describes what exists around a revision number.
	Around(ctx context.Context, revision int64) (revisions.Neighbourhood, error)
	// List returns the numbers of the revisions that match a query, in its order, and the last purge, nil if there was
	// none.
	List(ctx context.Context, query Query) ([]int64, *revisions.Purge, error)
	// Evidence returns the revisions that exist, in order of number, and the facts that their verdicts are based on.
	Evidence(ctx context.Context, revisions []int64) (Evidence, error)
	// EvidenceOf is Evidence for the revision with a name, if it exists.
	EvidenceOf(ctx context.Context, name Name) (Evidence, error)
	// Tags returns the tags of a revision with the given names, all of them if none is given, sorted.
	Tags(ctx context.Context, revision int64, names ...string) ([]revisions.Tag, error)

	// Facts returns the stamp of a revision and what changes with the facts that its verdict is made from; zero if there
	// is none.
	Facts(ctx context.Context, revision int64) (revisions.Stamp, revisions.FactsMark, error)
	// Behind implements Service.Behind, with the number of revisions to look at.
	Behind(ctx context.Context, of revisions.Upstream, most int) (n int, known bool, err error)
	// Upstreams returns those of the newest revision.
	Upstreams(ctx context.Context) (revisions.Upstreams, error)

	// Buckets returns a page of the buckets by name; with cleartext it does not count encrypted documents.
	Buckets(ctx context.Context, page Page, cleartext bool) ([]Bucket, error)

	// Boundaries returns the beginnings and ends of versions of a document that match a query, the newest first. cut
	// reports whether some were omitted because of their size.
	Boundaries(ctx context.Context, query BoundaryQuery) (boundaries []Boundary, cut bool, err error)

	// Documents returns the documents of a revision that match a selection, in its order. Once they exceed MaxBytes it
	// only outlines them.
	Documents(ctx context.Context, revision int64, selection Selection) (Selected, error)
	// AllDocuments returns all documents of the revision with a number and a stamp, in order of place, if possible from
	// memory. If the number now belongs to another revision, the result has another stamp.
	AllDocuments(ctx context.Context, revision int64, stamp revisions.Stamp) (Selected, error)
	// Ranks returns the ranks by the sort keys of the documents that Documents would return, by ID. Documents with equal
	// keys have equal ranks.
	Ranks(ctx context.Context, revision int64, selection Selection) (map[int64]int, error)
	// Versions calls do for versions of documents in a selection, in order of ids, and returns how many exist, 0 if the
	// revision has been replaced. It reads the contents in their stored form first and unpacks them one at a time.
	Versions(ctx context.Context, of Selected, ids []int64, do func(*revisions.Stored) error) (found int, err error)
	// Origins returns where versions of documents were written, by ID, omitting those that do not exist.
	Origins(ctx context.Context, ids []int64) (map[int64]revisions.Origin, error)
	// OriginsNamed returns where documents of a revision were written, omitting those that do not exist.
	OriginsNamed(ctx context.Context, revision int64, of []document.Identity) (
		map[document.Identity]revisions.Origin, error)
	// Texts returns texts by their numbers, omitting those that do not exist. Those with secrets are opened; if open is
	// nil, they have Secret instead of a body.
	Texts(ctx context.Context, numbers []int64, open func(reference string, sealed []byte) ([]byte, error)) (
		map[int64]revisions.Text, error)
	// Kinds counts the concrete documents of a revision by schema, with one of each, and returns the names of its
	// DataSchemas; with cleartext it omits encrypted documents.
	Kinds(ctx context.Context, revision int64, cleartext bool) (
		documents map[string]validations.Kind, registered []string, err error)
	// FallbackPolicy returns the LayeringPolicy for a revision without one: the newest one written until then, or else
	// the newest of all, even if it has been removed since; nil if none ever existed.
	FallbackPolicy(ctx context.Context, revision int64) (*revisions.Stored, error)
	// Compare returns the difference of two revisions; 0 is a revision without documents.
	Compare(ctx context.Context, before, after int64) (revisions.Comparison, error)
	// VersionsDigest returns revisions.VersionsDigest of all documents of a revision, from the database.
	VersionsDigest(ctx context.Context, revision int64) (document.Digest, error)

	// Failures returns the entries of a revision's schema validation that fail or have notes, in order. Methods with a
	// revisions.Revision return NotFound if it has been deleted or replaced by another with its number.
	Failures(ctx context.Context, of revisions.Revision, query EntryQuery) ([]revisions.Failure, error)
	// FailedEntries is Failures with notes and the documents that the entries are about.
	FailedEntries(ctx context.Context, of revisions.Revision, query EntryQuery) ([]revisions.FailedEntry, error)
	// Strays returns the first entries with notes about stray keys, with the documents that they are about but not their
	// contents: those about the documents with a name, as in EntryQuery, and if cleartext, none about encrypted documents.
	Strays(ctx context.Context, of revisions.Revision, document string, limit int, cleartext bool) (
		[]revisions.FailedEntry, error)
	// Checked returns the recorded outcomes of checks by the names of their pairs.
	Checked(ctx context.Context, pairs []revisions.Pair) (map[validations.Pair][]validations.Finding, error)
	// Contents returns contents by digest, omitting those that do not exist.
	Contents(ctx context.Context, digests []document.Digest) (map[document.Digest][]byte, error)
	// Archive returns the archive of the package described by a content, nil if there is none.
	Archive(ctx context.Context, content document.Digest) ([]byte, error)
	// Reported returns the results posted about a revision in order, without their errors; only those with a name if it is
	// not empty.
	Reported(ctx context.Context, of revisions.Revision, name string) ([]Reported, error)
	// ResultTexts returns the texts of posted results by ID.
	ResultTexts(ctx context.Context, of revisions.Revision, ids []int64) (map[int64]ResultTexts, error)
	// WorstResults returns the alphabetically smallest status posted under each name, which is the worst one.
	WorstResults(ctx context.Context, of revisions.Revision) (map[string]string, error)

	// WaiversOf returns all waivers of a revision, in the order in which they were made.
	WaiversOf(ctx context.Context, revision int64) (Waivers, error)
	// Waivers returns a page of the waivers of all revisions, or of the active ones; those that end first come first.
	Waivers(ctx context.Context, page Page, active bool) (Waivers, error)
	// CountWaivers counts the active waivers.
	CountWaivers(ctx context.Context) (int64, error)
}

// Audit stores audit events permanently. Fault: Unavailable if the database does not answer.
type Audit interface {
	// Record adds an event and assigns its ID.
	Record(ctx context.Context, event revisions.AuditEvent) error
	// AuditEvents returns a page of the events that match a query, the newest first, and reports whether there are more.
	AuditEvents(ctx context.Context, query AuditQuery) (events []revisions.AuditEvent, more bool, err error)
}

// AuditQuery restricts audit events. Zero fields do not restrict.
type AuditQuery struct {
	Page

	Revision     int64
	User         string    // the ID or name of a user
	Since, Until time.Time // Since is included, Until is not
}

// Evidence holds the facts that verdicts on revisions are based on.
type Evidence struct {
	Now       time.Time // by the database's clock
	Revisions []revisions.Revision
	// Policies are the ValidationPolicies in force in any of the revisions, in order of place.
	Policies []revisions.PolicyVersion
	// Known is what is known about the validations, by revision: the newest posted results of each name first.
	Known map[int64]validations.Known
}

// Outline is a document without its content.
type Outline struct {
	ID   int64
	Size int // of the content, in bytes
}

// Selected are selected documents of a revision.
type Selected struct {
	Documents []*revisions.Stored // those that have been read
	Rest      []Outline           // the others, in order
	More      bool                // there are others after the limit
	// Searched is the number of documents after which a search has stopped, earlier ones included; 0 if there are no
	// further ones. There may be some.
	Searched int
	Revision int64
	Stamp    revisions.Stamp // of the revision
	// Provisional reports whether the same query may return something else later.
	Provisional bool
}

// Held returns how many bytes they take in memory while they are written, about.
func (s Selected) Held() (bytes int) {
	for _, doc := range s.Documents {
		bytes += revisions.Size(doc.Document)
	}
	if len(s.Rest) > 0 {
		bytes += maxRead
	}
	return bytes
}

// first returns the first documents up to a limit, all of them if it is negative.
func (s Selected) first(limit int) Selected {
	if s.More = limit >= 0 && limit < len(s.Documents)+len(s.Rest); s.More {
		s.Documents = s.Documents[:min(limit, len(s.Documents))]
		s.Rest = s.Rest[:limit-len(s.Documents)]
	}
	return s
}
