package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/wire"
)

// GET /api/v1.0/buckets
func (s *server) listBuckets(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	page := q.page()
	if err := q.err(); err != nil {
		return err
	}
	buckets, more, err := s.questions(r).Buckets(r.Context(), page)
	if err != nil {
		return err
	}
	var upstreams []revisions.Upstream
	for _, bucket := range buckets {
		if bucket.Upstream != nil {
			upstreams = append(upstreams, *bucket.Upstream)
		}
	}
	behind, err := s.behind(r, upstreams)
	if err != nil {
		return err
	}
	return writePage(s, w, r, part{page, more}, buckets, func(b queries.Bucket) wire.Bucket {
		view := s.links(r).bucket(b)
		if b.Upstream != nil {
			view.Behind = behind[*b.Upstream]
		}
		return view
	})
}

// GET /api/v1.0/documents/{namespace}/{kind}/{version}/{layer}/{name}/history
func (s *server) documentHistory(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	page := q.page()
	if err := q.err(); err != nil {
		return err
	}
	changes, more, err := s.questions(r).History(r.Context(), identityOf(r), page)
	if err != nil {
		return err
	}
	shown := make([]wire.DocumentChange, len(changes))
	for i, change := range changes {
		if shown[i], err = documentChangeView(r.Context(), change); err != nil {
			return err
		}
	}
	return writePage(s, w, r, part{page, more}, shown, func(v wire.DocumentChange) wire.DocumentChange { return v })
}

// identityOf returns the identity of the document that the path names. The layer "-" stands for none.
func identityOf(r *http.Request) document.Identity {
	parts := []string{revisionName(r, "namespace"), revisionName(r, "kind"), revisionName(r, "version")}
	id := document.Identity{
		Schema: strings.Join(parts, "/"), Layer: revisionName(r, "layer"), Name: revisionName(r, "name"),
	}
	if id.Layer == "-" {
		id.Layer = ""
	}
	return id
}

// GET /api/v1.0/audit
func (s *server) listAudit(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	query := queries.AuditQuery{
		Page:     q.page(),
		Revision: int64(q.count("revision", 0)), User: q.text("user"), Since: q.time("since"), Until: q.time("until"),
	}
	if err := q.err(); err != nil {
		return err
	}
	events, more, err := s.at(r).Audit.AuditEvents(r.Context(), query)
	if err != nil {
		return err
	}
	return writePage(s, w, r, part{query.Page, more}, events, auditEventView)
}

// GET /api/v1.0/whoami
func (s *server) whoami(w http.ResponseWriter, r *http.Request) error {
	caller := infoOf(r).caller
	passed, depending := s.Access.Rules.Policy().Passed(caller, onSite(r, authz.Target{}))
	s.answers.write(w, r, http.StatusOK, wire.Caller{
		User: wire.User{ID: caller.UserID, Name: wire.Optional(caller.UserName)}, Project: wire.Optional(caller.ProjectID),
		Roles: nonNil(caller.Roles), Rules: passed, Depending: depending,
	})
	return nil
}

// part is a page of a list, which may have more behind it.
type part struct {
	queries.Page

	more bool
}

// writePage answers with a page of a list.
func writePage[T, V any](s *server, w http.ResponseWriter, r *http.Request, of part, items []T, view func(T) V) error {
	shown, err := pageView(s.links(r), r.URL, of.Page, of.more, items, view)
	if err != nil {
		return fmt.Errorf("answer with a page: %w", err)
	}
	s.answers.write(w, r, http.StatusOK, shown)
	return nil
}

// auditEventView returns the view of an audit event.
func auditEventView(d revisions.AuditEvent) wire.AuditEvent {
	view := wire.AuditEvent{
		ID: d.ID, At: wire.TimeText(d.At), User: wire.User{ID: d.UserID, Name: wire.Optional(d.UserName)},
		Project: wire.Optional(d.Project), EndUser: wire.Optional(d.EndUser), Rule: d.Rule, Method: d.Method,
		Target: d.Target, Status: d.Status, Error: wire.Optional(d.Error), Remote: d.Remote, Request: d.Request,
	}
	if d.Revision > 0 {
		view.Revision = &d.Revision
	}
	return view
}

// bucket returns the view of a bucket in a list.
func (l links) bucket(b queries.Bucket) wire.Bucket {
	return wire.Bucket{
		Name: b.Name, Documents: b.Documents, Last: lastView(b.Last), From: b.Upstream,
		URL: l.base + "/api/v1.0/revisions/latest/documents?" + url.Values{"status.bucket": {b.Name}}.Encode(),
	}
}

func lastView(c queries.Change) wire.Last {
	return wire.Last{
		Revision: c.Revision, ChangedAt: wire.TimeText(c.At), User: wire.Optional(c.User), Message: wire.Optional(c.Message),
		Source: wire.Optional(c.Source),
	}
}

// documentChangeView returns the view of a change of a document, with its difference. The error is from the budget.
func documentChangeView(ctx context.Context, c queries.DocumentChange) (wire.DocumentChange, error) {
	before := int64(0)
	if c.Before != nil {
		before = c.Before.Revision
	}
	text, err := unifiedDiff(ctx, before, c.Revision, c.DocumentDifference)
	return wire.DocumentChange{
		Last: lastView(c.Change), Bucket: c.Bucket(), Change: c.Difference.String(), Diff: text,
	}, err
}
