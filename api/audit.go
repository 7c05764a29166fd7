package api

import (
	"net/http"

	"purser/api/parameters"
	"purser/api/views"
	"purser/internal/queries"
)

// GET /api/v1.0/audit
func (s *server) listAudit(w http.ResponseWriter, r *http.Request) error {
	q := parameters.Of(r)
	query := queries.AuditQuery{
		Page:     q.Page(),
		Revision: int64(q.Count("revision", 0)), User: q.Text("user"), Since: q.Time("since"), Until: q.Time("until"),
	}
	if err := q.Err(); err != nil {
		return err
	}
	events, more, err := s.Audit.AuditEvents(r.Context(), query)
	if err != nil {
		return err
	}
	writePage(s, w, r, query.Page, more, views.ListOf(events, views.AuditOf))
	return nil
}
