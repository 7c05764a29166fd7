package api

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"purser/internal/queries"
	"purser/internal/revisions"
)

// audited records what comes of requests for changes, before the client hears of it: no change is acknowledged that the
// audit does not know. A change that was made counts also if it cannot be recorded; then it stands in the log.
func (s *server) audited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isReading(r.Method) {
			next.ServeHTTP(w, r)
			return
		}
		answer := &auditWriter{ResponseWriter: w, record: func(status int) { s.record(r, status) }}
		next.ServeHTTP(answer, r)
		if answer.record != nil { // nothing was said, which is a 200
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

// auditWriter tells the status of an answer before it is sent.
type auditWriter struct {
	http.ResponseWriter

	record func(status int) // nil once it was called
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

// record adds a request and the status of its answer to the audit, unless nothing could come of it: of requests from
// nobody, or too many, there may be any number, and they stand in the log.
func (s *server) record(r *http.Request, status int) {
	const patience = 5 * time.Second
	seen := observed(r)
	if seen.rule == "" || seen.caller.UserID == "" || status == http.StatusTooManyRequests || seen.idle ||
		seen.audited {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
	defer cancel()
	event := s.auditEvent(r, status)
	if err := s.Audit.Record(ctx, event); err != nil {
		s.Log.ErrorContext(ctx, "A CHANGE CANNOT BE RECORDED IN THE AUDIT", "error", err.Error(), "user", event.UserID,
			"end_user", event.EndUser, "method", event.Method, "target", event.Target, "revision", event.Revision,
			"status", status, "remote", event.Remote, "request", event.Request)
	}
}

// auditOf returns the event that is stored with a change whose answer has a status, nil if no caller is known.
func (s *server) auditOf(r *http.Request, status int) *revisions.AuditEvent {
	if caller(r).UserID == "" {
		return nil
	}
	event := s.auditEvent(r, status)
	return &event
}

func (s *server) auditEvent(r *http.Request, status int) revisions.AuditEvent {
	seen := observed(r)
	const longest = 2000
	target := []rune(strings.ToValidUTF8(r.URL.RequestURI(), "\uFFFD"))
	remote, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		remote = r.RemoteAddr
	}
	return revisions.AuditEvent{
		At: s.Now(), UserID: seen.caller.UserID, UserName: seen.caller.UserName, Project: seen.caller.ProjectID,
		EndUser: endUser(r), Rule: seen.rule, Method: r.Method, Target: string(target[:min(len(target), longest)]),
		Revision: seen.revision, Status: status, Error: seen.failure, Remote: remote, Request: seen.id,
	}
}

// GET /api/v1.0/audit
func (s *server) listAudit(w http.ResponseWriter, r *http.Request) error {
	const usual, most = 100, 1000
	q := readQuery(r)
	query := queries.AuditQuery{
		Page:     queries.Page{Offset: q.count("offset", 0), Limit: q.count("limit", usual)},
		Revision: int64(q.count("revision", 0)), User: q.text("user"), Since: q.time("since"), Until: q.time("until"),
	}
	if query.Limit > most {
		q.fail("limit", "At most %d are shown at once.", most)
	}
	if err := q.error(); err != nil {
		return err
	}
	events, more, err := s.Audit.AuditEvents(r.Context(), query)
	if err != nil {
		return err
	}
	view := auditView{list: listOf(events, eventViewOf)}
	view.Next, view.Prev = pages(r, query.Page, more)
	s.write(w, r, http.StatusOK, view)
	return nil
}

// time reads a time; zero if it is not given.
func (q *query) time(parameter string) time.Time {
	text := q.text(parameter)
	if text == "" {
		return time.Time{}
	}
	for _, format := range []string{time.RFC3339, timeFormat} {
		if t, err := time.Parse(format, text); err == nil {
			return t
		}
	}
	q.fail(parameter, "It must be a time such as 2026-01-31T12:00:00Z.")
	return time.Time{}
}

type auditView struct {
	list[eventView]

	Next *string `json:"next"`
	Prev *string `json:"prev"`
}

type eventView struct {
	ID       int64    `json:"id"`
	At       *string  `json:"at"`
	User     userView `json:"user"`
	Project  *string  `json:"project"`
	EndUser  *string  `json:"endUser"`
	Rule     string   `json:"rule"`
	Method   string   `json:"method"`
	Target   string   `json:"target"`
	Revision *int64   `json:"revision"`
	Status   int      `json:"status"`
	Error    *string  `json:"error"`
	Remote   string   `json:"remote"`
	Request  string   `json:"request"`
}

func eventViewOf(d revisions.AuditEvent) eventView {
	view := eventView{
		ID: d.ID, At: timeText(d.At), User: userView{d.UserID, optional(d.UserName)}, Project: optional(d.Project),
		EndUser: optional(d.EndUser), Rule: d.Rule, Method: d.Method, Target: d.Target, Status: d.Status,
		Error: optional(d.Error), Remote: d.Remote, Request: d.Request,
	}
	if d.Revision > 0 {
		view.Revision = &d.Revision
	}
	return view
}
