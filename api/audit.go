package api

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"purser/api/parameters"
	"purser/api/views"
	"purser/internal/queries"
	"purser/internal/revisions"
)

// audited records the outcome of change requests before they are answered, so that no unaudited change is
// acknowledged. If recording fails, a change that was made is logged instead and still acknowledged.
func (s *server) audited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isReading(r.Method) {
			next.ServeHTTP(w, r)
			return
		}
		answer := &auditWriter{ResponseWriter: w, record: func(status int) { s.record(r, status) }}
		next.ServeHTTP(answer, r)
		if answer.record != nil { // the handler wrote nothing: 200
			answer.WriteHeader(http.StatusOK)
		}
	})
}

func isReading(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	return false
}

// auditWriter calls record with the status of an answer before it is sent.
type auditWriter struct {
	http.ResponseWriter

	record func(status int) // nil after it was called
}

// WriteHeader implements http.ResponseWriter.
func (w *auditWriter) WriteHeader(status int) {
	if record := w.record; record != nil && status >= http.StatusOK {
		w.record = nil
		record(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *auditWriter) Write(text []byte) (int, error) {
	if w.record != nil {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(text) //nolint:wrapcheck // a decorator
}

// Unwrap is for http.ResponseController.
func (w *auditWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// record adds a request and the status of its answer to the audit. It leaves out changes that store nothing new, and
// requests without a caller or beyond the rate, because their number is unlimited. Dry runs are recorded because their
// answers reveal as much about documents as those of changes.
func (s *server) record(r *http.Request, status int) {
	const patience = 5 * time.Second
	info := infoOf(r)
	if info.rule == "" || info.caller.UserID == "" || status == http.StatusTooManyRequests || info.unchanged ||
		info.audited {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
	defer cancel()
	event := s.auditEvent(r, status)
	if err := s.Audit.Record(ctx, event); err != nil {
		s.Log.ErrorContext(ctx, "A CHANGE CANNOT BE RECORDED IN THE AUDIT", "error", err.Error(), "user", event.UserID,
			"end_user", event.EndUser, "method", event.Method, "target", event.Target, "revision", event.Revision,
			"status", status, "remote", event.Remote)
	}
}

// auditOf returns the audit event of a change that will be answered with a status; nil if the caller is anonymous.
func (s *server) auditOf(r *http.Request, status int) *revisions.AuditEvent {
	if callerOf(r).UserID == "" {
		return nil
	}
	event := s.auditEvent(r, status)
	return &event
}

func (s *server) auditEvent(r *http.Request, status int) revisions.AuditEvent {
	info := infoOf(r)
	remote, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		remote = r.RemoteAddr
	}
	return revisions.AuditEvent{
		At: s.Now(), UserID: info.caller.UserID, UserName: info.caller.UserName, Project: info.caller.ProjectID,
		EndUser: endUser(r), Rule: info.rule, Method: r.Method, Target: targetOf(r),
		Revision: info.revision, Status: status, Error: info.errorType, Remote: remote, Request: info.id,
	}
}

// targetOf returns the shortened path and query of a request. It always keeps the mark of a dry run.
func targetOf(r *http.Request) string {
	const maxLength = 2000
	target := r.URL.RequestURI()
	if len(target) > maxLength && parameters.Of(r).Flag("dry-run", false) {
		target = r.URL.EscapedPath() + "?dry-run=true&" + r.URL.RawQuery
	}
	text := []rune(strings.ToValidUTF8(target, "\uFFFD"))
	return string(text[:min(len(text), maxLength)])
}

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
