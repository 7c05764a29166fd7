package views

import "purser/internal/revisions"

// Audit shows an audit event.
type Audit struct {
	ID       int64   `json:"id"`
	At       *string `json:"at"`
	User     User    `json:"user"`
	Project  *string `json:"project"`
	EndUser  *string `json:"endUser"`
	Rule     string  `json:"rule"`
	Method   string  `json:"method"`
	Target   string  `json:"target"`
	Revision *int64  `json:"revision"`
	Status   int     `json:"status"`
	Error    *string `json:"error"`
	Remote   string  `json:"remote"`
	Request  string  `json:"request"`
}

// AuditOf returns the view of an audit event.
func AuditOf(d revisions.AuditEvent) Audit {
	view := Audit{
		ID: d.ID, At: timeText(d.At), User: User{d.UserID, Optional(d.UserName)}, Project: Optional(d.Project),
		EndUser: Optional(d.EndUser), Rule: d.Rule, Method: d.Method, Target: d.Target, Status: d.Status,
		Error: Optional(d.Error), Remote: d.Remote, Request: d.Request,
	}
	if d.Revision > 0 {
		view.Revision = &d.Revision
	}
	return view
}

// Whoami shows a caller.
type Whoami struct {
	User    User     `json:"user"`
	Project *string  `json:"project"`
	Roles   []string `json:"roles"`
	Rules   []string `json:"rules"` // that the caller passes
}

// User shows a user.
type User struct {
	ID   string  `json:"id"`
	Name *string `json:"name"`
}
