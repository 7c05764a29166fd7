package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/wire"
)

// GET /api/v1.0/revisions
func (s *server) listRevisions(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	query := q.revisions(s.Compat)
	if err := q.err(); err != nil {
		return err
	}
	found, err := s.questions(r).List(r.Context(), query)
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusOK, s.links(r).revisions(r.URL, query.Page, found))
	return nil
}

// GET /api/v1.0/revisions/{revision}
func (s *server) showRevision(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	described, err := s.questions(r).Describe(r.Context(), id)
	if err != nil {
		return err
	}
	s.answers.writeAs(w, r, http.StatusOK, negotiate(r), s.links(r).revision(described),
		tagPrefix(described.Revision))
	return nil
}

// GET /api/v1.0/revisions/{revision}/chain
func (s *server) showChain(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	link, err := s.questions(r).Link(r.Context(), id)
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusOK, wire.Link{
		Chain: link.Revision.Chain.String(), Of: link.Of, Intact: link.Intact(), Unchecked: nonNil(link.Unchecked),
	})
	return nil
}

// GET /api/v1.0/revisions/{revision}/documents
func (s *server) listDocuments(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	selection := q.selection(s.Compat)
	form := q.text(formParameter)
	if form != "" && form != "submitted" {
		q.fail(formParameter, `It must be "submitted".`)
	}
	if err := q.err(); err != nil {
		return err
	}
	if form != "" {
		return s.writeSubmitted(w, r, selection)
	}
	return s.writeSelected(w, r, selection, queries.View.Documents)
}

// writeSubmitted answers with the texts of selected documents as they were submitted. It has no ETag, because a text
// may change without a revision.
func (s *server) writeSubmitted(w http.ResponseWriter, r *http.Request, selection queries.Selection) error {
	id, err := s.revision(r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	ctx, view, secrets := r.Context(), s.questions(r), paramsOf(r).flag(cleartextSecrets, false)
	found, end, err := s.reserved(ctx, func() (queries.Selected, error) { return view.Documents(ctx, id, selection) })
	if err != nil {
		return asHTTPNotFound(err)
	}
	defer end()
	w.Header().Set("Vary", varies)
	w.Header().Set("Cache-Control", "no-store, "+noTransform)
	if !s.Compat {
		s.setLinks(w, r, selection.Page, found)
	}
	return s.answers.writeParted(w, r, typeText, func(flush func([]byte) ([]byte, error)) ([]byte, error) {
		var out []byte
		err := view.Submitted(ctx, found, secrets, func(files []document.File) (err error) {
			for _, file := range files {
				if out = document.AppendFile(out, file); len(out) >= flushSize {
					if out, err = flush(out); err != nil {
						return err
					}
				}
			}
			return nil
		})
		return out, err
	})
}

// GET /api/v1.0/revisions/{revision}/rendered-documents
func (s *server) listRendered(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	selection := q.selection(s.Compat)
	if err := q.err(); err != nil {
		return err
	}
	selection.Abstract = nil // no rendered document is abstract
	return s.writeSelected(w, r, selection, func(v queries.View, ctx context.Context, id int64, of queries.Selection) (
		queries.Selected, error,
	) {
		found, err := v.Rendered(ctx, id, of)
		if infoOf(r).viewer.Secrets() && slices.ContainsFunc(found.Documents, mayHoldSecret) {
			w.Header().Set("Cache-Control", noTransform)
		}
		return found, err
	})
}

// mayHoldSecret reports whether a rendered document may contain a secret.
func mayHoldSecret(doc *revisions.Stored) bool {
	if traits, decoded := doc.Decoded(); decoded {
		return doc.Tainted || traits.Encrypted
	}
	return doc.Tainted || bytes.Contains(doc.Metadata, []byte(`"storagePolicy":"encrypted"`))
}

// writeSelected answers with the selected documents of a revision.
func (s *server) writeSelected(w http.ResponseWriter, r *http.Request, selection queries.Selection,
	read func(queries.View, context.Context, int64, queries.Selection) (queries.Selected, error),
) error {
	view := s.questions(r)
	id, err := s.revision(r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	if r.Header.Get("If-None-Match") != "" {
		stamp, err := view.Stamp(r.Context(), id)
		if err != nil {
			return asHTTPNotFound(err)
		}
		tag := s.documentsTag(r, id, stamp)
		if matchesTag(r, tag) && notModified(w, r, tag) { // without reading documents
			return nil
		}
	}
	ctx := r.Context()
	found, end, err := s.reserved(ctx, func() (queries.Selected, error) { return read(view, ctx, id, selection) })
	if err != nil {
		return asHTTPNotFound(err)
	}
	defer end()
	w.Header().Set("Vary", varies)
	if !found.Provisional && notModified(w, r, s.documentsTag(r, id, found.Stamp)) {
		return nil
	}
	if !s.Compat {
		s.setLinks(w, r, selection.Page, found)
	}
	each := func(do func([]*revisions.Stored) error) error {
		return view.Each(ctx, found, do)
	}
	return s.answers.writeDocuments(w, r, each, func(doc *revisions.Stored) int64 { return doc.Revision }, nil)
}

// reserved reads documents and reserves the memory for them until end is called. While it waits for memory it holds no
// documents, and reads them again then.
func (s *server) reserved(ctx context.Context, read func() (queries.Selected, error)) (
	found queries.Selected, end func(), err error,
) {
	if found, err = read(); err != nil {
		return found, nil, err
	}
	size := found.Held()
	if end = s.answers.try(ctx, size); end != nil {
		return found, end, nil
	}
	found = queries.Selected{}
	if end, err = s.answers.reserve(ctx, size); err != nil {
		return found, nil, err
	}
	if found, err = read(); err != nil {
		end()
	}
	return found, end, err
}

// documentsTag returns the ETag of a list of documents. It depends on the media type, the query and whether the caller
// may read encrypted documents.
func (s *server) documentsTag(r *http.Request, revision int64, stamp revisions.Stamp) string {
	sees := strconv.FormatBool(infoOf(r).viewer.Encrypted)
	return revisionTag(revision, stamp, "documents", negotiate(r), r.URL.RawQuery, sees)
}

// setLinks sets Link to the URLs of the next and previous pages. A search that has not looked at all documents says so,
// and the next page goes on with it.
func (s *server) setLinks(w http.ResponseWriter, r *http.Request, page queries.Page, found queries.Selected) {
	next, previous := s.links(r).pages(r.URL, page, page.Limit, found.More)
	if found.Searched > 0 {
		w.Header().Set("Purser-Searched", strconv.Itoa(found.Searched))
		next = s.links(r).further(r.URL, found.Searched)
	}
	for _, link := range []struct {
		url wire.Optional
		rel string
	}{{next, "next"}, {previous, "prev"}} {
		if link.url != "" {
			w.Header().Add("Link", "<"+string(link.url)+`>; rel="`+link.rel+`"`)
		}
	}
}

func (l links) policyViews(shown revisions.RevisionStatus) []wire.Policy {
	views := []wire.Policy{}
	for _, policy := range shown.Verdict.Policies {
		id := policy.Policy.Identity
		query := url.Values{"schema": {id.Schema}, "metadata.name": {id.Name}}
		view := wire.Policy{
			Name: id.Name, Status: policy.Status.String(),
			URL: l.revisionURL(shown.ID) + "/documents?" + query.Encode(),
		}
		if !l.compat {
			for _, v := range policy.Validations {
				item := standing(v)
				if item.URL = l.validationURL(shown.ID, v.Name); v.Status != validations.Failure {
					item.Message = v.Reason()
				}
				view.Validations = append(view.Validations, item)
			}
		}
		views = append(views, view)
	}
	return views
}

// revisionStatus returns the status of a revision, where Deckhand has a word of its own for a failure.
func (l links) revisionStatus(status validations.Status) string {
	if l.compat && status != validations.Success {
		return "failed"
	}
	return status.String()
}

// revision returns the view of a revision.
func (l links) revision(described queries.Described) wire.Revision {
	view := l.revisionItem(described.RevisionStatus)
	view.Tags.Data, view.URL = tagViews(described.TagData), l.revisionURL(described.RevisionStatus.ID)
	if around := described.Around; around != nil {
		view.Previous, view.Next, view.Weakened = &around.Previous, &around.Next, around.Weakened
	}
	return view
}

// revisionItem returns the view of a revision in a list.
func (l links) revisionItem(shown revisions.RevisionStatus) wire.Revision {
	view := wire.Revision{
		Buckets: nonNil(shown.Buckets), CreatedAt: wire.TimeText(shown.CreatedAt), ID: shown.ID,
		Stamp: shown.Stamp.String(), Kind: shown.Kind.String(),
		User: wire.Optional(shown.User), Message: wire.Optional(shown.Message),
		Source: wire.Optional(shown.Source), Tags: wire.Tags{Names: nonNil(shown.Tags)},
		Status: l.revisionStatus(shown.Verdict.Status), Waived: len(shown.Verdict.Waived()), Policies: l.policyViews(shown),
	}
	view.Sources = shown.Upstreams
	if !shown.Chain.IsZero() && !l.compat {
		view.Chain = shown.Chain.String()
	}
	if shown.Kind == revisions.Rollback {
		view.RolledBackTo = &shown.Origin
	}
	return view
}

// revisions returns the view of a page of revisions. at is the URL of the request.
func (l links) revisions(at *url.URL, page queries.Page, found queries.Listed) wire.Revisions {
	view := wire.Revisions{List: listView(found.Revisions, l.revisionItem)}
	if l.compat {
		return view
	}
	next, previous := l.pages(at, page, len(found.Revisions), found.More)
	view.Next, view.Prev = &next, &previous
	if p := found.Purged; p != nil {
		view.Purged = &wire.Purge{At: wire.TimeText(p.At), User: wire.Optional(p.User), Message: wire.Optional(p.Message)}
	}
	return view
}

// prunedView returns the view of a prune.
func prunedView(pruned revisions.Pruned, dryRun bool) wire.Pruned {
	ranges := []wire.Range{}
	for _, revision := range pruned.Revisions {
		if last := len(ranges) - 1; last >= 0 && ranges[last].Last == revision-1 {
			ranges[last].Last = revision
		} else {
			ranges = append(ranges, wire.Range{First: revision, Last: revision})
		}
	}
	return wire.Pruned{
		DryRun: dryRun, Revisions: wire.Ranges{Count: len(pruned.Revisions), Ranges: ranges},
		Documents: pruned.Documents, Contents: pruned.Contents, Bytes: pruned.Bytes, Kept: pruned.Remaining,
	}
}

// tagViews maps the names of tags to their data.
func tagViews(tags []revisions.Tag) map[string]json.RawMessage {
	views := make(map[string]json.RawMessage, len(tags))
	for _, tag := range tags {
		views[tag.Name] = tag.Data
	}
	return views
}
