package api

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/words"
)

// auditRecorder records changes in the audit.
type auditRecorder struct {
	audit queries.Audit
	log   *slog.Logger
	now   func() time.Time
}

// middleware records the outcome of change requests before they are answered, so that no unaudited change is
// acknowledged. If recording fails, a change that was made is logged instead and still acknowledged.
func (a auditRecorder) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isReading(r.Method) {
			next.ServeHTTP(w, r)
			return
		}
		answer := &auditWriter{ResponseWriter: w, record: func(status int) { a.record(r, status) }}
		next.ServeHTTP(answer, r)
		if answer.record != nil { // the handler wrote nothing: 200
			answer.WriteHeader(http.StatusOK)
		}
	})
}

// isReading reports whether requests of a method change nothing.
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
func (a auditRecorder) record(r *http.Request, status int) {
	const patience = 5 * time.Second
	info := infoOf(r)
	if info.rule == "" || info.caller.UserID == "" || status == http.StatusTooManyRequests || info.unchanged ||
		info.audited {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
	defer cancel()
	event := a.event(r, status)
	if err := a.audit.Record(ctx, event); err != nil {
		a.log.ErrorContext(ctx, "A CHANGE CANNOT BE RECORDED IN THE AUDIT", "error", err.Error(), "user", event.UserID,
			"end_user", event.EndUser, "method", event.Method, "target", event.Target, "revision", event.Revision,
			"status", status, "remote", event.Remote)
	}
}

// eventFor returns the audit event of a change that will be answered with a status; nil if the caller is anonymous.
func (a auditRecorder) eventFor(r *http.Request, status int) *revisions.AuditEvent {
	if infoOf(r).caller.UserID == "" {
		return nil
	}
	event := a.event(r, status)
	return &event
}

// remoteAddress returns the address that a request comes from, without the port.
func remoteAddress(r *http.Request) string {
	remote, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return remote
}

func (a auditRecorder) event(r *http.Request, status int) revisions.AuditEvent {
	info := infoOf(r)
	return revisions.AuditEvent{
		At: a.now(), UserID: info.caller.UserID, UserName: info.caller.UserName, Project: info.caller.ProjectID,
		EndUser: endUser(r), Rule: info.rule, Method: r.Method, Target: targetOf(r),
		Revision: info.revision, Status: status, Error: info.errorType, Remote: remoteAddress(r), Request: info.id,
	}
}

// targetOf returns the shortened path and query of a request. It always keeps the mark of a dry run.
func targetOf(r *http.Request) string {
	const maxLength = 2000
	target := r.URL.RequestURI()
	if len(target) > maxLength && paramsOf(r).flag("dry-run", false) {
		target = r.URL.EscapedPath() + "?dry-run=true&" + r.URL.RawQuery
	}
	text := []rune(words.Storable(target))
	return string(text[:min(len(text), maxLength)])
}

// endUser returns X-End-User, shortened. It is only recorded, so an invalid value does not fail the change.
func endUser(r *http.Request) string {
	const maxLength = 255
	name := []rune(words.Storable(r.Header.Get("X-End-User")))
	return string(name[:min(len(name), maxLength)])
}
