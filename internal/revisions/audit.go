package revisions

import (
	"context"
	"time"
)

// Deed is a request for a change, by somebody who is known, and what came of it.
type Deed struct {
	ID       int64 // in the order in which deeds were recorded
	At       time.Time
	UserID   string
	UserName string // empty if it is not known, as what follows
	Project  string
	EndUser  string // who the user says it is for
	Rule     string // that the user had to pass
	Method   string
	Target   string // path and query
	Revision int64  // that was made, or that the change was about; 0 if neither
	Status   int    // of the answer
	Error    string // what the answer calls the error; empty if there is none
	Remote   string // address of the client
	Request  string // id of the request
}

// DeedQuery says which deeds are wanted. What is zero does not restrict.
type DeedQuery struct {
	Page

	Revision     int64
	User         string    // the id or the name of a user
	Since, Until time.Time // from the one on, before the other
}

// Audit keeps deeds for ever. Fault: Unavailable if the database does not answer.
type Audit interface {
	// Record adds a deed, of which it gives the id itself.
	Record(ctx context.Context, deed Deed) error
	// Deeds returns a page of the deeds that a query asks for, the newest first, and whether there are more behind it.
	Deeds(ctx context.Context, query DeedQuery) (deeds []Deed, more bool, err error)
}
