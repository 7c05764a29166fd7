package api

import (
	"context"
	"net"
	"net/http"
	"time"

	"purser/internal/revisions"
	"purser/internal/words"
)

// isReading reports whether requests of a method change nothing.
func isReading(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	return false
}

// recordChange adds a request that may change something, and the status of its answer, to the audit. It leaves out
// changes that store nothing new, and requests without a caller or beyond the rate, because their number is unlimited.
// Dry runs are recorded because their answers reveal as much about documents as those of changes.
func (s *server) recordChange(r *http.Request, status int) {
	const patience = 5 * time.Second
	info := infoOf(r)
	if info.rule == "" || info.caller.UserID == "" || status == http.StatusTooManyRequests || info.unchanged ||
		info.audited {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
	defer cancel()
	event := s.newAuditEvent(r, status)
	audit, err := s.auditOf(ctx, r)
	if err == nil {
		err = audit.Record(ctx, event)
	}
	if err != nil {
		s.Log.ErrorContext(ctx, "A CHANGE CANNOT BE RECORDED IN THE AUDIT", "error", err.Error(), "user", event.UserID,
			"end_user", event.EndUser, "method", event.Method, "target", event.Target, "revision", event.Revision,
			"status", status, "remote", event.Remote)
	}
}

// auditEvent returns the audit event of a change that will be answered with a status; nil if the caller is anonymous.
func (s *server) auditEvent(r *http.Request, status int) *revisions.AuditEvent {
	if infoOf(r).caller.UserID == "" {
		return nil
	}
	event := s.newAuditEvent(r, status)
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

func (s *server) newAuditEvent(r *http.Request, status int) revisions.AuditEvent {
	info := infoOf(r)
	return revisions.AuditEvent{
		At: s.Now(), UserID: info.caller.UserID, UserName: info.caller.UserName, Project: info.caller.ProjectID,
		EndUser: endUser(r), Rule: info.rule, Method: r.Method, Target: targetOf(r),
		Revision: info.revision, Status: status, Error: info.errorType, Remote: remoteAddress(r), Request: info.id,
	}
}

// targetOf returns the shortened path and query of a request. It always keeps the mark of a dry run.
func targetOf(r *http.Request) string {
	const maxLength = 2000
	target := infoOf(r).prefix + r.URL.RequestURI()
	if len(target) > maxLength && paramsOf(r).flag("dry-run", false) {
		target = infoOf(r).prefix + r.URL.EscapedPath() + "?dry-run=true&" + r.URL.RawQuery
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
