package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/sites"
	"purser/internal/validations"
)

// copyFrom reads from where the documents of a change are to be copied; nil if they come in the body. into is the
// bucket of the request, empty for a change set.
func (q *params) copyFrom(into string) *copying {
	text, expect := q.text("from"), q.oneOf("expect", "success")
	if !q.given("from") {
		if expect != "" {
			q.fail("expect", "It is about the source of a copy: it needs from=SITE@REVISION.")
		}
		return nil
	}
	from, ok := revisions.ParseCopyFrom(text)
	switch {
	case !ok:
		q.fail("from", `It must be SITE@REVISION or SITE@REVISION/BUCKET, with a revision's number, "latest" or "tag:NAME".`)
	case into == "" && from.Bucket != "":
		q.fail("from", "A change set copies buckets under their own names: name them in buckets=, and not here.")
	case q.given("detach"):
		q.fail("detach", "It is about documents in a body, and not together with from=.")
	case from.Bucket != "":
		if err := validations.CheckName(from.Bucket, "The bucket in it"); err != nil {
			q.fail("from", "%w", err)
		}
	}
	return &copying{from, expect != ""}
}

// copying says which documents are to be copied.
type copying struct {
	revisions.CopyFrom

	promotes bool // their revision must be a success
}

// copyDocuments copies documents of buckets of another site and puts them. They count as a body of the request.
func (s *server) copyDocuments(r *http.Request, from copying, buckets []string, into string, options revisions.Options,
	put func(body []byte, media document.Media, options revisions.Options) (changes.Written, error),
) (changes.Written, error) {
	view, err := s.viewOf(r, from.Site, from.promotes)
	if err != nil {
		return changes.Written{}, err
	}
	ctx := r.Context()
	id, err := view.Resolve(ctx, from.Revision)
	if err != nil {
		return changes.Written{}, inSite(from.Site, from.explained(err))
	}
	if into != "" {
		buckets = []string{cmp.Or(from.Bucket, into)}
	}
	var copied queries.Copy
	end, err := s.uploads.large(r, firstBytes, func(more func(bytes int64) error) (err error) {
		// The copies of a fleet come many at a time. Each is small, but others would wait for all of them.
		if err := budget.NewMeter(ctx).Admit(); err != nil {
			return err
		}
		if copied, err = view.Copied(ctx, id, buckets, into, int(s.Limits.Body)); err != nil {
			return inSite(from.Site, err)
		}
		if rest := int64(len(copied.Body)) - firstBytes; rest > 0 {
			return more(rest)
		}
		return nil
	})
	if err != nil {
		return changes.Written{}, err
	}
	defer end()
	for _, upstream := range copied.Upstreams {
		if from.Stamp != 0 && upstream.Stamp != from.Stamp.String() {
			return changes.Written{}, fault.New(fault.Stale, "HTTPPreconditionFailed", "In the site %s, which from= names, "+
				"revision %d is another one than that with the stamp %s: all revisions were deleted since, or the database was "+
				"restored. Nothing was stored", from.Site, id, from.Stamp)
		}
	}
	if options.Copied = copied.Upstreams; from.promotes {
		options.Promotion = func(ctx context.Context) (revisions.Promotion, error) {
			promotion, err := view.Promotion(ctx, id)
			return promotion, inSite(from.Site, err)
		}
	}
	return put(copied.Body, document.YAML, options)
}

// explained adds to the fault of a revision that does not exist that its tag ends at the first slash.
func (c copying) explained(err error) error {
	f, isFault := errors.AsType[*fault.Fault](err)
	if isFault && f.Kind == fault.NotFound && strings.HasPrefix(c.Revision, "tag:") && c.Bucket != "" {
		return fault.New(f.Kind, f.Type, "%w. What follows the first / in from= is a bucket, here %s: name the revision of "+
			"a tag with / by its number", err, c.Bucket)
	}
	return err
}

// withoutBody returns a fault of a copy whose request has a body, which may be of unknown length.
func (s *server) withoutBody(w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength == 0 {
		return nil
	}
	_, _, err := s.uploads.readSmall(w, r, 0)
	if fault.KindOf(err) == fault.TooLarge {
		return fault.New(fault.Invalid, "HTTPBadRequest", "The request has a body, and from= copies documents instead; "+
			"leave one of them out. Nothing was stored.")
	}
	return err
}

// inSite adds the site to the fault of a revision that is not that of the request's own site.
func inSite(site string, err error) error {
	f, isFault := errors.AsType[*fault.Fault](err)
	if isFault && (f.Kind == fault.NotFound || f.Kind == fault.Gone) {
		return fault.New(f.Kind, f.Type, "In the site %s, which from= names: %w", site, err)
	}
	return err
}

// viewOf returns the view that the caller has of another site than that of the request; if promotes is set, also of its
// verdicts. Faults: NotFound as unknownSite, Forbidden, Invalid for the same site.
func (s *server) viewOf(r *http.Request, site string, promotes bool) (queries.View, error) {
	if s.Sites == nil {
		return queries.View{}, fault.New(fault.Invalid, "HTTPBadRequest", "This server has one site (--compat=deckhand), "+
			"and from= copies from another one.")
	}
	target := authz.Target{Site: site}
	if !sites.IsName(site) || !s.maySee(r, site) {
		return queries.View{}, s.unknownSite(r, site)
	}
	if site == siteOf(r) {
		return queries.View{}, fault.New(fault.Invalid, "HTTPBadRequest", "from= names the site that the request changes. "+
			"POST /rollback/{revision} restores an earlier revision of it. Nothing was stored.")
	}
	if s.decide(r, readDocuments, target) != authz.Allowed {
		return queries.View{}, forbidden(readDocuments)
	}
	if _, err := s.Sites.Directory.Settings(r.Context(), site); err != nil {
		return queries.View{}, s.orUnknown(r, site, err)
	}
	if promotes && s.decide(r, authz.ShowRevision, target) != authz.Allowed {
		return queries.View{}, forbidden(authz.ShowRevision)
	}
	viewer := authz.Viewer{Encrypted: s.decide(r, authz.ListEncryptedDocuments, target) == authz.Allowed}
	return s.services(site).Queries.For(viewer), nil
}

// maxBehind bounds the upstreams of which an answer says how far a site is behind.
const maxBehind = 1000

// behind returns how far a site is behind the first maxBehind of its upstreams; nil where that is not known, and for
// those in sites of which the caller may not know.
func (s *server) behind(r *http.Request, upstreams []revisions.Upstream) (map[revisions.Upstream]*int, error) {
	behind := map[revisions.Upstream]*int{}
	for _, from := range upstreams {
		if _, found := behind[from]; found || len(behind) == maxBehind || !s.maySee(r, from.Site) {
			continue
		}
		n, known, err := s.services(from.Site).Queries.Behind(r.Context(), from)
		switch {
		case fault.KindOf(err) == fault.NotFound:
			known = false // the site was deleted
		case err != nil:
			return nil, err
		}
		if behind[from] = nil; known {
			behind[from] = &n
		}
	}
	return behind, nil
}
