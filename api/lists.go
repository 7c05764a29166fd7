package api

import (
	"fmt"
	"net/http"
	"strings"

	"purser/internal/document"
	"purser/internal/queries"
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
	return writePage(s, w, r, part{page, more}, buckets, s.links(r).bucket)
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
	events, more, err := s.Audit.AuditEvents(r.Context(), query)
	if err != nil {
		return err
	}
	return writePage(s, w, r, part{query.Page, more}, events, auditEventView)
}

// GET /api/v1.0/whoami
func (s *server) whoami(w http.ResponseWriter, r *http.Request) error {
	caller := infoOf(r).caller
	s.answers.write(w, r, http.StatusOK, wire.Caller{
		User: wire.User{ID: caller.UserID, Name: wire.Optional(caller.UserName)}, Project: wire.Optional(caller.ProjectID),
		Roles: nonNil(caller.Roles), Rules: s.Access.Rules.Policy().Passed(caller),
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
