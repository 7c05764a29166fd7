package validations

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Entry is one entry of a revision's validations as it is shown (spec/api.md §8.3-8.5).
type Entry struct {
	ID           int // position in the list it is part of; counts from 0
	Name         string
	Status       string
	Errors       []json.RawMessage
	CreatedAt    time.Time // zero for an entry that stands for a missing one
	ExpiresAfter string    // ISO 8601 duration; "" if it does not expire
	ExpiresAt    time.Time // zero if it does not expire
}

// Summary is one validation of a revision with the worst status of its entries (spec/api.md §8.2).
type Summary struct {
	Name   string
	Status string
}

const neverRegistered = `The result for this validation was never externally registered so its status defaulted to ` +
	`"failure".`

// Overlay returns entries as they are under the policies in force: those that no policy lists are marked as ignored, the
// first of them with an explanation for each policy (spec/api.md §8.6). An explanation says the same of all of them, and
// stands once.
func Overlay(policies []Policy, entries []Entry) []Entry {
	if len(policies) == 0 {
		return entries
	}
	required := shortest(policies)
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

// ignoredToo is the explanation of ignored entries after the first.
const ignoredToo = "The result for this validation has been ignored, for the reasons given in entry %d of this list."

// Unreported returns the names, sorted, of the validations that a policy lists and that are not present.
func Unreported(policies []Policy, present map[string]bool) (missing []string) {
	for name := range shortest(policies) {
		if !present[name] {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return missing
}

// MissingEntry is the failed entry that stands for a validation that a policy lists and nobody reported.
func MissingEntry(name string) Entry {
	return Entry{Name: name, Status: Failure.String(), Errors: []json.RawMessage{messageItem(neverRegistered)}}
}

func messageItem(message string) json.RawMessage {
	item, err := json.Marshal(map[string]string{"message": message})
	if err != nil {
		panic(fmt.Sprintf("validations: %v", err)) // strings always marshal
	}
	return item
}

// mostNames is how many names of a policy a message lists.
const mostNames = 100

// explanations say why a validation is ignored, one for each policy.
func explanations(policies []Policy) (items []json.RawMessage) {
	for _, policy := range policies {
		var names []string
		for _, requirement := range policy.Requirements[:min(len(policy.Requirements), mostNames)] {
			names = append(names, requirement.Name)
		}
		if len(policy.Requirements) > mostNames {
			names = append(names, "…")
		}
		items = append(items, messageItem(fmt.Sprintf(
			"The result for this validation was externally registered but has been ignored because it is not found in "+
				"the validations for ValidationPolicy %s: %s.", policy.Identity, strings.Join(names, ", "))))
	}
	return items
}

func ignoredStatus(status string) string { return "ignored [" + status + "]" }

// shortest gives, for each validation that a policy lists, the requirement by which its success ends first.
func shortest(policies []Policy) map[string]Requirement {
	required := map[string]Requirement{}
	for _, policy := range policies {
		for _, requirement := range policy.Requirements {
			known, listed := required[requirement.Name]
			expires := requirement.ExpiresAfter != ""
			if !listed || expires && (known.ExpiresAfter == "" || requirement.lifetime < known.lifetime) {
				required[requirement.Name] = requirement
			}
		}
	}
	return required
}

// withExpiry tells when an entry's success ends.
func withExpiry(entry Entry, requirement Requirement) Entry {
	if at, expires := requirement.expiry(entry.CreatedAt); expires && !strings.HasPrefix(entry.Name, ReservedPrefix) {
		entry.ExpiresAfter, entry.ExpiresAt = requirement.ExpiresAfter, at
	}
	return entry
}

// Summarize gives one line for each validation that was reported or is listed by a policy, sorted by name. worst holds
// the worst status word reported under each name.
func Summarize(policies []Policy, worst map[string]string) []Summary {
	required := shortest(policies)
	summaries := make([]Summary, 0, len(worst)+len(required))
	for name, status := range worst {
		if _, listed := required[name]; len(policies) > 0 && !listed {
			status = ignoredStatus(status)
		}
		summaries = append(summaries, Summary{name, status})
	}
	for name := range required {
		if _, reported := worst[name]; !reported {
			summaries = append(summaries, Summary{name, Failure.String()})
		}
	}
	slices.SortFunc(summaries, func(a, b Summary) int { return strings.Compare(a.Name, b.Name) })
	return summaries
}
