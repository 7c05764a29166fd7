package validations

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"purser/internal/document"
)

// Entry is one entry of a revision's validations, as the API shows it.
type Entry struct {
	ID           int // position in its list; counts from 0
	Name         string
	Status       string
	Errors       []json.RawMessage
	Notes        []document.Note // remarks that are not errors
	CreatedAt    time.Time       // zero if the validation is missing
	CarriedFrom  int64           // the revision for which it was posted, if it was copied from there; 0 otherwise
	ExpiresAfter string          // ISO 8601 duration; "" if it does not expire
	ExpiresAt    time.Time       // zero if it does not expire
	Validator    string          // JSON text, as posted; only of those that NewestPosted returns
	Inputs       string          // as in Outcome
	URL          string          // as in Outcome
	User         string          // as in Outcome
}

// Summary is one validation of a revision with its status.
type Summary struct {
	Name   string
	Status string
}

// NewestPosted returns the newest result of each validation that others post, by name and without its errors.
func NewestPosted(policies []Policy, outcomes []Outcome) map[string]Entry {
	newest, required := map[string]Entry{}, strictest(policies)
	for _, outcome := range outcomes {
		if IsOwn(outcome.Name) {
			continue
		}
		newest[outcome.Name] = EntryOf(outcome, required[outcome.Name])
	}
	return newest
}

// EntryOf returns the entry of a posted result under a requirement, without its errors.
func EntryOf(o Outcome, requirement Requirement) Entry {
	return withExpiry(Entry{
		Name: o.Name, Status: o.Status.String(), CreatedAt: o.At, CarriedFrom: o.CarriedFrom,
		Validator: o.Validator, Inputs: o.Inputs, URL: o.URL, User: o.User,
	}, requirement)
}

const neverRegistered = `The result for this validation was never externally registered so its status defaulted to ` +
	`"failure".`

// Overlay returns entries as policies present them. It marks entries that no policy lists as ignored, and adds an
// explanation for each policy to the first of them, to which the others refer.
func Overlay(policies []Policy, entries []Entry) []Entry {
	if len(policies) == 0 {
		return entries
	}
	required := strictest(policies)
	explanations, first := explanations(policies), -1
	shown := make([]Entry, 0, len(entries))
	for _, entry := range entries {
		if requirement, listed := required[entry.Name]; listed {
			entry = withExpiry(entry, requirement)
		} else {
			entry.Status = ignoredStatus(entry.Status)
			if entry.Errors = slices.Concat(entry.Errors, explanations); first < 0 {
				first = entry.ID
				explanations = []json.RawMessage{messageItem(fmt.Sprintf(ignoredToo, first))}
			}
		}
		shown = append(shown, entry)
	}
	return shown
}

// ignoredToo is the explanation of all ignored entries but the first.
const ignoredToo = "The result for this validation has been ignored, for the reasons given in entry %d of this list."

// Unreported returns the sorted names of validations that a policy needs and that are not in present.
func Unreported(policies []Policy, present map[string]bool) (missing []string) {
	for name, requirement := range strictest(policies) {
		if !present[name] && !requirement.Inapplicable {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return missing
}

// MissingEntry returns the failed entry of a validation that a policy lists and that was never reported.
func MissingEntry(name string) Entry {
	return Entry{Name: name, Status: Failure.String(), Errors: []json.RawMessage{messageItem(neverRegistered)}}
}

func messageItem(message string) json.RawMessage {
	item, err := json.Marshal(map[string]string{"message": message})
	if err != nil {
		panic(fmt.Sprintf("validations: %v", err)) // cannot happen: strings always marshal
	}
	return item
}

// maxNames bounds the validations that a message names.
const maxNames = 100

// explanations returns, for each policy, a message that it does not list the validation.
func explanations(policies []Policy) (items []json.RawMessage) {
	for _, policy := range policies {
		var names []string
		for _, requirement := range policy.Requirements[:min(len(policy.Requirements), maxNames)] {
			names = append(names, requirement.Name)
		}
		if len(policy.Requirements) > maxNames {
			names = append(names, "…")
		}
		items = append(items, messageItem(fmt.Sprintf(
			"The result for this validation was externally registered but has been ignored because it is not found in "+
				"the validations for ValidationPolicy %s: %s.", policy.Identity, strings.Join(names, ", "))))
	}
	return items
}

func ignoredStatus(status string) string { return "ignored [" + status + "]" }

// strictest returns, for each validation that a policy lists, the requirement with the earliest expiry among those that
// apply.
func strictest(policies []Policy) map[string]Requirement {
	required := map[string]Requirement{}
	for _, policy := range policies {
		for _, requirement := range policy.Requirements {
			other, listed := required[requirement.Name]
			expires := requirement.ExpiresAfter != ""
			earlier := expires && (other.ExpiresAfter == "" || requirement.lifetime < other.lifetime)
			if !listed || other.Inapplicable || earlier && !requirement.Inapplicable {
				required[requirement.Name] = requirement
			}
		}
	}
	return required
}

// withExpiry returns entry with its expiry under requirement. Entries of the server's own validations do not expire,
// and a missing entry has no time of expiry.
func withExpiry(entry Entry, requirement Requirement) Entry {
	if at, expires := requirement.Expiry(entry.CreatedAt); expires && !IsOwn(entry.Name) {
		if entry.ExpiresAfter = requirement.ExpiresAfter; !entry.CreatedAt.IsZero() {
			entry.ExpiresAt = at
		}
	}
	return entry
}

// Summarize returns summaries, sorted by name, of the validations that were reported or that a policy lists.
// statuses maps the names of the reported ones to their statuses.
func Summarize(policies []Policy, statuses map[string]string) []Summary {
	required := strictest(policies)
	summaries := make([]Summary, 0, len(statuses)+len(required))
	for name, status := range statuses {
		if _, listed := required[name]; len(policies) > 0 && !listed {
			status = ignoredStatus(status)
		}
		summaries = append(summaries, Summary{name, status})
	}
	for name := range required {
		if _, known := statuses[name]; !known {
			summaries = append(summaries, Summary{name, Failure.String()})
		}
	}
	slices.SortFunc(summaries, func(a, b Summary) int { return strings.Compare(a.Name, b.Name) })
	return summaries
}
