package revisions

import (
	"time"

	"purser/internal/fault"
	"purser/internal/validations"
	"purser/internal/words"
)

// Waiver is a waiver of a validation of a revision, with what became of it.
type Waiver struct {
	validations.Waiver

	Site        string // in a list of several sites; else empty
	Revision    int64
	CreatedAt   time.Time
	EndedAt     time.Time // when somebody ended it; zero if nobody has
	EndedBy     string    // who did; empty if callers are anonymous
	CarriedFrom int64     // the revision that it was made about, if a rollback copied it; else 0
}

// MaxWaivers bounds the waivers of a revision.
const MaxWaivers = 1000

// The states of a Waiver.
const (
	ActiveWaiver  = "active"
	ExpiredWaiver = "expired" // its time is over
	EndedWaiver   = "ended"   // somebody ended it before that
)

// State returns the state at a time.
func (w Waiver) State(now time.Time) string {
	switch {
	case !w.EndedAt.IsZero():
		return EndedWaiver
	case !w.ActiveAt(now):
		return ExpiredWaiver
	}
	return ActiveWaiver
}

// TooManyWaivers returns the fault of a revision that has as many waivers as it may have.
func TooManyWaivers(revision int64) error {
	return fault.New(fault.Conflict, "TooManyWaivers", "Revision %d has had %d waivers, the most that it may have; make "+
		"the requirements that cannot be met advisory in the ValidationPolicy", revision, MaxWaivers)
}

// UnknownWaiver returns the NotFound fault for a waiver of a revision, by its id as a caller wrote it.
func UnknownWaiver(revision int64, id string) error {
	return fault.New(fault.NotFound, "WaiverNotFound", "Revision %d has no waiver %s", revision, words.Excerpt(id)).
		RequestHint("GET /revisions/%d/waivers lists those that it has had.", revision)
}
