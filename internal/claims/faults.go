package claims

import (
	"fmt"
	"time"

	"purser/internal/fault"
)

// Unknown returns the fault of a claim that is not known: of another server, from before a restore of the database, or
// long replaced by others.
func Unknown() *fault.Fault {
	return fault.New(fault.NotFound, "UnknownClaim", "There is no such claim; nothing was changed. Claim work again")
}

// Other returns the fault of a claim that is to other work than the request.
func Other(w Work) error {
	return fault.New(fault.NotFound, "UnknownClaim", "The claim is to %s of revision %d, and not to what the path "+
		"names; nothing was changed. Send the result to the URL that came with the claim", w.Validation, w.Revision)
}

// Lost returns the fault of a claim to work that another worker has claimed since.
func Lost(w Work) error {
	lost := fault.New(fault.Conflict, "ClaimLost", "The claim no longer holds the work: %s has claimed %s of revision "+
		"%d since %s; nothing was changed. Claim other work", w.Worker, w.Validation, w.Revision, timeText(w.Since))
	lost.Metadata = map[string]any{"worker": w.Worker, "since": timeText(w.Since)}
	return lost
}

// Over returns the fault of a claim that has ended.
func Over(why string) error {
	return fault.New(fault.Conflict, "ClaimOver", "The claim is over: %s; nothing was changed. Claim work again", why)
}

// Aged returns the fault of a claim that has lasted as long as one may.
func Aged(w Work) error {
	return Over(fmt.Sprintf("it has lasted since %s, and one lasts %d hours in all", timeText(w.Since),
		int(MaxAge.Hours())))
}

func timeText(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000") }
