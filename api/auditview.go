package api

import (
	"purser/internal/revisions"
	"purser/internal/wire"
)

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
