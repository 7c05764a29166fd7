package queries

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/words"
)

// Copy is the documents of buckets of a revision as a body for another site, and where they come from.
type Copy struct {
	Body      []byte
	Upstreams revisions.Upstreams // by the buckets that the documents are for
}

// Copied returns the documents of buckets of a revision as they were submitted, with their secrets, as a body with a
// bound in bytes: for the bucket into, of one bucket, or, if that is empty, for a change set of the buckets, or of all
// buckets if none is named. It must not be changed: many sites may get it. Faults: NotFound for a bucket without
// documents, Forbidden for encrypted documents that the viewer may not see, Conflict for packages, TooLarge.
func (v View) Copied(ctx context.Context, id int64, buckets []string, into string, most int) (Copy, error) {
	around, err := v.around(ctx, id)
	if err != nil {
		return Copy{}, err
	}
	question := copyQuestion{
		v.renderer.Site, around.Stamp, around.Texts, strings.Join(buckets, "\x00"), into, v.viewer.Encrypted,
	}
	read, err := shareAnswer(ctx, v.Service, question, func(ctx context.Context) (copyable, int, error) {
		found, err := v.For(authz.Viewer{Encrypted: true}).copyable(ctx, id, buckets, into, v.viewer.Encrypted, most)
		if len(found.Body) == 0 || len(found.secret) > 0 {
			return found, -1, err // caches keep neither refusals nor secrets
		}
		const perUpstream = 256
		return found, len(found.Body) + len(question.buckets) + perUpstream*len(found.Upstreams), err
	})
	if err == nil {
		err = read.refusal(v.renderer.Site, id, v.viewer.Encrypted)
	}
	if err != nil {
		return Copy{}, err
	}
	return read.Copy, nil
}

// copyQuestion identifies an answer of Copied, texts included, which may change without a revision.
type copyQuestion struct {
	site          string
	stamp         revisions.Stamp
	texts         int64
	buckets, into string
	encrypted     bool // the viewer may see encrypted documents
}

// copyable is a copy, without its body if it is refused, and what it is refused for.
type copyable struct {
	Copy

	missing          []string // buckets without documents
	secret, packages []string // names of encrypted documents, and of packages
}

// copyable reads a copy. It opens no secret unless encrypted is set.
func (v View) copyable(ctx context.Context, id int64, buckets []string, into string, encrypted bool, most int) (
	c copyable, err error,
) {
	selected, err := v.Documents(ctx, id, Selection{Buckets: buckets, Page: Page{Limit: -1}})
	if err != nil {
		return c, err
	}
	c.Upstreams = revisions.Upstreams{}
	found := map[string]bool{}
	err = v.Each(ctx, selected, func(documents []*revisions.Stored) error {
		for _, doc := range documents {
			found[doc.Bucket] = true
			c.Upstreams[cmp.Or(into, doc.Bucket)] = revisions.Upstream{
				Site: v.renderer.Site, Revision: id, Stamp: selected.Stamp.String(), Bucket: doc.Bucket,
			}
			if doc.Traits().Encrypted {
				c.secret = append(c.secret, doc.Identity.String())
			}
			if doc.IsPackage() {
				c.packages = append(c.packages, doc.Name)
			}
		}
		return nil
	})
	c.missing = slices.DeleteFunc(slices.Clone(buckets), func(bucket string) bool { return found[bucket] })
	if err != nil || c.refusal(v.renderer.Site, id, encrypted) != nil {
		return c, err
	}
	meter := budget.NewMeter(ctx)
	defer func() { meter.Release(len(c.Body)) }() // who puts the body holds it
	err = v.Submitted(ctx, selected, true, func(files []document.File) error {
		before := len(c.Body)
		for _, file := range files {
			if into != "" {
				file.Bucket = ""
			}
			c.Body = document.AppendFile(c.Body, file)
		}
		if len(c.Body) > most {
			return document.TooLarge("what would be copied has more than %d bytes; copy fewer buckets at a time, with a change "+
				"set and buckets=, or raise the server's --max-body", most)
		}
		return meter.Hold(len(c.Body) - before)
	})
	return c, err
}

// refusal returns the fault of a copy from a revision of a site that has no documents in a bucket, has packages or,
// unless encrypted is set, encrypted documents; nil if there is none.
func (c copyable) refusal(site string, id int64, encrypted bool) error {
	const most = 20
	switch missing, secret, packages := c.missing, c.secret, c.packages; {
	case len(missing) > 0:
		return fault.New(fault.NotFound, "BucketNotFound", "Revision %d has no documents in %s, and nothing was stored; GET "+
			"%s/api/v1.0/buckets lists its buckets. To empty a bucket, PUT an empty body to it", id,
			words.Count(len(missing), "bucket")+": "+words.Some(missing, most), revisions.SitePath(site))
	case len(secret) > 0 && !encrypted:
		return fault.New(fault.Forbidden, "HTTPForbidden", "Policy doesn't allow %s to be performed in the site %s, from "+
			"which encrypted documents would be copied, and nothing was stored: %s", authz.ListEncryptedDocuments, site,
			words.Some(secret, most)).Lacking(authz.ListEncryptedDocuments)
	case len(packages) > 0:
		return fault.New(fault.Conflict, "PackagesNotCopied", "Murano packages are not copied from site to site, and "+
			"nothing was stored: %s. PUT each to /buckets/{bucket}/packages/{fullName}, and copy the other buckets",
			words.Some(packages, most))
	}
	return nil
}

// Promotion returns the condition of a change that a revision which it copies is a success. Fault: Stale, with the
// obstacles, if it is none.
func (v View) Promotion(ctx context.Context, id int64) (revisions.Promotion, error) {
	stamp, facts, err := v.store.Facts(ctx, id) // before they are judged
	if err != nil {
		return revisions.Promotion{}, fmt.Errorf("read what decides revision %d: %w", id, err)
	}
	shown, err := v.Status(ctx, strconv.FormatInt(id, 10))
	if err != nil {
		return revisions.Promotion{}, err
	}
	if shown.Stamp != stamp || shown.Verdict.Status != validations.Success {
		return revisions.Promotion{}, v.notPromoted(shown)
	}
	until, _ := shown.Verdict.NextChange()
	return revisions.Promotion{Site: v.renderer.Site, Revision: id, Stamp: stamp, Facts: facts, Until: until}, nil
}

// notPromoted returns the fault of a change that copies a revision which is no success.
func (v View) notPromoted(shown revisions.RevisionStatus) error {
	f := fault.New(fault.Stale, "HTTPPreconditionFailed", "Revision %d of the site %s is no success (expect=success), "+
		"and nothing was stored", shown.ID, v.renderer.Site)
	f.Messages = []fault.Message{{Message: f.Message, Error: true}}
	for _, line := range shown.Verdict.Obstacles(nil) {
		f.Messages = append(f.Messages, fault.Message{Message: strings.TrimSpace(line), Error: true})
	}
	return f
}

// maxBehind is the number of revisions that Behind looks at.
const maxBehind = 1000

// Behind returns how many of the next 1,000 revisions that are kept have changed a bucket of the site since a
// revision, and 1 if only others have. known is false if the revision is none of the site's history, which was purged
// or restored since.
func (s *Service) Behind(ctx context.Context, of revisions.Upstream) (n int, known bool, err error) {
	n, known, err = s.store.Behind(ctx, of, maxBehind)
	if err != nil {
		err = fmt.Errorf("find what has changed since revision %d: %w", of.Revision, err)
	}
	return n, known, err
}
