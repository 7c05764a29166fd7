package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/events"
	"purser/internal/revisions"
)

// queueEvent adds an event to the outbox.
func (s *Store) queueEvent(batch *pgx.Batch, e events.Event) {
	batch.Queue(stmt.InsertEvent, named{
		"site": s.site, "type": string(e.Type), "revision": e.Revision, "subject": e.Subject, "data": string(e.Data),
		"withheld": jsonText(e.Withheld),
	})
}

// wake wakes the numbering of events. It is called after a commit.
func (s *Store) wake() {
	select {
	case s.news <- struct{}{}:
	default: // they have not looked since the last time
	}
}

// Committed implements feed.Store. It returns a channel that receives after wake.
func (s *Store) Committed() <-chan struct{} { return s.news }

// eventRecord and auditRecord are an event and an audit event as JSON, in the form that AddResults and SetTag read.
type eventRecord struct {
	Type     string  `json:"type"`
	Subject  string  `json:"subject"`
	Data     string  `json:"data"`
	Withheld *string `json:"withheld"`
}

type auditRecord struct {
	At       time.Time `json:"at"`
	UserID   string    `json:"user_id"`
	UserName string    `json:"user_name"`
	Project  string    `json:"project"`
	EndUser  string    `json:"end_user"`
	Rule     string    `json:"rule"`
	Method   string    `json:"method"`
	Target   string    `json:"target"`
	Status   int       `json:"status"`
	Error    string    `json:"error"`
	Remote   string    `json:"remote"`
	Request  string    `json:"request"`
}

// auditRecordOf returns the record of an audit event, nil for none.
func auditRecordOf(a *revisions.AuditEvent) *auditRecord {
	if a == nil {
		return nil
	}
	return &auditRecord{
		a.At, a.UserID, a.UserName, a.Project, a.EndUser, a.Rule, a.Method, a.Target, a.Status, a.Error, a.Remote, a.Request,
	}
}

// auditText returns the record of an audit event as a parameter; NULL for none.
func auditText(a *revisions.AuditEvent) (*string, error) {
	if a == nil {
		return nil, nil
	}
	text, err := json.Marshal(auditRecordOf(a))
	if err != nil {
		return nil, fmt.Errorf("write an audit event: %w", err)
	}
	return new(string(text)), nil
}
