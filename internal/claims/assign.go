package claims

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"purser/internal/validations"
)

// Assignment is work for a worker, to be claimed unless somebody else claims it first.
type Assignment struct {
	Work // as it is before

	Ask      Ask    // of the worker, or of the server
	Of       int    // the place of the ask; negative if it is the server's
	Progress string // of the new claim
}

// Assign assigns claimable work to workers, in the order in which they ask: to each the newest revision's, and of that
// the first by the worker's names. Work whose claims ran out too often is assigned to the server. The work is in order,
// the newest revision first.
func Assign(work []Work, asks []Ask) (assigned []Assignment) {
	left := map[string][]Work{}
	for _, w := range work {
		left[w.Validation] = append(left[w.Validation], w)
	}
	for i, ask := range asks {
		for {
			w, found := take(left, ask.Names)
			if !found {
				break
			}
			if w.abandoned() {
				assigned = append(assigned, forServer(w))
				continue
			}
			assigned = append(assigned, Assignment{Work: w, Ask: ask, Of: i})
			break
		}
	}
	return assigned
}

// take removes the work that comes first for a list of names from what is left, by name.
func take(left map[string][]Work, names []string) (w Work, found bool) {
	for _, name := range names {
		if of := left[name]; len(of) > 0 && (!found || of[0].Revision > w.Revision) {
			w, found = of[0], true
		}
	}
	if found {
		left[w.Validation] = slices.Delete(left[w.Validation], 0, 1)
	}
	return w, found
}

// forServer returns abandoned work for the server, with the message of the failure to post as the progress: if the
// server ends before it has posted that, its claim runs out too, and the next one has the message from there.
func forServer(w Work) Assignment {
	message := w.Progress
	if w.Attempt == MaxAttempts {
		by := w.Worker
		if w.User != "" && w.User != w.Worker {
			by += " of " + w.User
		}
		message = fmt.Sprintf("%d claims to this work ran out without a result; the last one was that of %s since %s; "+
			"ask for a new result to have others try",
			MaxAttempts, by, w.Since.UTC().Format(time.RFC3339))
	}
	return Assignment{
		Work: w, Of: -1, Progress: message, Ask: Ask{Token: NewToken(), Worker: Server, Timeout: serverTimeout},
	}
}

// Failure returns the result that the server posts about work that it was assigned.
func (a Assignment) Failure() validations.Result {
	errors, err := json.Marshal([]map[string]string{{"message": a.Progress}})
	if err != nil {
		panic(fmt.Errorf("write an error: %w", err)) // texts can always be written
	}
	return validations.Result{
		Name: a.Validation, Status: validations.Failure.String(), Validator: []byte(`{"name":"` + Server + `"}`),
		Errors: errors,
	}
}
