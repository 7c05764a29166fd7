package validations

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Vote is a user's newest result of a validation.
type Vote struct {
	User   string // the name, or the ID of a user without one
	At     time.Time
	Failed bool
	// Message is the first message of a failure.
	Message string
}

// Claim is the present claim of a worker to a validation that lacks a result.
type Claim struct {
	Worker  string
	Since   time.Time
	Attempt int // counts from 1
}

// Waiver lets a validation of one revision count as a success until it ends.
type Waiver struct {
	ID         int64
	Validation string
	By         string // the user who made it
	Reason     string
	Until      time.Time
}

// Known is what is known about the validations of a revision beside its policies.
type Known struct {
	Outcomes []Outcome
	Votes    map[string][]Vote // of validations that need approvals, by name; each user's newest, the newest first
	Claims   map[string]Claim  // by the name of the validation
	Waivers  []Waiver          // that nobody has ended, in the order in which they were made
}

// waiver returns the newest active waiver of a validation, nil if there is none or it cannot be waived. What it does is
// decided by Judged.Passes alone.
func (k Known) waiver(name string, now time.Time) *Waiver {
	for i := range slices.Backward(k.Waivers) {
		if w := &k.Waivers[i]; w.Validation == name && w.ActiveAt(now) && !IsOwn(name) {
			return w
		}
	}
	return nil
}

// Judged is the status of one validation in a verdict.
type Judged struct {
	Name     string
	Status   Status
	Message  string
	Approved bool      // approvals decide it, not the newest result alone
	Advisory bool      // it makes warnings, but never fails the verdict
	Result   *Outcome  // the newest reported one; nil if there is none
	Until    time.Time // when a success expires; zero if it does not
	Waiver   *Waiver   // active and of a validation that is not a success by itself; nil if there is none
	Claim    *Claim    // to a validation that is missing or expired; nil if there is none
}

// Passes reports whether the validation does not fail the verdict.
func (j Judged) Passes() bool {
	return j.Holds() || j.Advisory || j.Waiver != nil
}

// Holds reports whether the validation is a success by itself.
func (j Judged) Holds() bool { return j.Status == Success || j.Status == NotApplicable }

// ResultTells reports whether the newest result, of others, tells more than the status: another status, where it comes
// from, what it depends on, a page about it, or when it expires.
func (j Judged) ResultTells() bool {
	r := j.Result
	return r != nil && !IsOwn(j.Name) &&
		(r.Status != j.Status || r.CarriedFrom != 0 || r.Inputs != "" || r.URL != "" || !j.Until.IsZero())
}

// lacks reports whether a result of others is what the validation needs.
func (j Judged) lacks() bool {
	return (j.Status == Missing || j.Status == Expired) && !IsReserved(j.Name)
}

// Reason returns the first message of a failure, what a missing result lacks, and who works on it; "" if none of these
// is known.
func (j Judged) Reason() string {
	reason := j.Message
	if j.Status == Missing {
		reason = cmp.Or(j.Message, Unmakeable(j.Name))
	}
	if j.Claim == nil {
		return reason
	}
	claimed := "claimed by " + j.Claim.Worker + " since " + j.Claim.Since.UTC().Format(time.TimeOnly)
	if reason == "" {
		return claimed
	}
	return reason + "; " + claimed
}

// judge returns the status of a required validation, without waivers and claims. newest is its newest outcome, nil if
// there is none.
func (r Requirement) judge(newest *Outcome, votes []Vote, now time.Time) Judged {
	judged := Judged{Name: r.Name, Status: Missing, Advisory: r.Advisory, Result: newest}
	switch {
	case r.Inapplicable:
		judged.Status, judged.Message = NotApplicable, "no document matches when"
		return judged
	case r.Approvals > 0 && !IsOwn(r.Name):
		return r.count(judged, votes, now)
	case newest == nil:
		return judged
	}
	judged.Status, judged.Message = newest.Status, newest.Message
	if newest.Status == Success && !IsOwn(r.Name) { // the server's own depend only on the documents, and do not expire
		return r.expire(judged, newest.At, now)
	}
	return judged
}

// expire sets when a success of a time expires, and its status if that has passed.
func (r Requirement) expire(judged Judged, success, now time.Time) Judged {
	at, expires := r.Expiry(success)
	switch {
	case !expires:
	case now.After(at):
		judged.Status, judged.Message = Expired, ""
	default:
		judged.Until = at
	}
	return judged
}

// count decides a validation that needs approvals. Each success of a user's newest result is one; one user's failure
// fails it. The last one that is needed says when it expires.
func (r Requirement) count(judged Judged, votes []Vote, now time.Time) Judged {
	judged.Approved = true
	var users []string
	for _, vote := range votes {
		if vote.Failed {
			judged.Status, judged.Message = Failure, vote.Message
			if vote.User != "" {
				judged.Message = strings.TrimSuffix("rejected by "+vote.User+": "+vote.Message, ": ")
			}
			return judged
		}
		users = append(users, vote.User)
	}
	if len(votes) >= r.Approvals {
		judged.Status = Success
		return r.expire(judged, votes[r.Approvals-1].At, now)
	}
	judged.Message = fmt.Sprintf("%d of %d approvals", len(votes), r.Approvals)
	named := slices.DeleteFunc(users, func(user string) bool { return user == "" })
	if by := strings.Join(named, ", "); by != "" {
		judged.Message += ", by " + by
	}
	return judged
}
