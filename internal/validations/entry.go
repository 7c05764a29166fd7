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

// Overlay shows entries in the light of the policies in force: those that no policy lists are marked as ignored, and
// one failed entry stands for each validation that is listed and missing (spec/api.md §8.6). IDs count in the result.
func Overlay(policies []Policy, entries []Entry) []Entry {
	if len(policies) == 0 {
		return numbered(entries)
	}
	required := Required(policies)
	shown := make([]Entry, 0, len(entries)+len(required))
	present := map[string]bool{}
	for _, entry := range entries {
		present[entry.Name] = true
		if slices.Contains(required, entry.Name) {
			entry = withExpiry(policies, entry)
		} else {
			entry = ignored(policies, entry)
		}
		shown = append(shown, entry)
	}
	for _, name := range slices.Sorted(slices.Values(required)) {
		if !present[name] {
			shown = append(shown, missing(name))
		}
	}
	return numbered(shown)
}

func numbered(entries []Entry) []Entry {
	for i := range entries {
		entries[i].ID = i
	}
	return entries
}

func missing(name string) Entry {
	return Entry{Name: name, Status: Failure.String(), Errors: []json.RawMessage{messageItem(neverRegistered)}}
}

func messageItem(message string) json.RawMessage {
	item, err := json.Marshal(map[string]string{"message": message})
	if err != nil {
		panic(fmt.Sprintf("validations: %v", err)) // strings always marshal
	}
	return item
}

func ignored(policies []Policy, entry Entry) Entry {
	entry.Status = ignoredStatus(entry.Status)
	entry.Errors = slices.Clone(entry.Errors)
	for _, policy := range policies {
		names := make([]string, 0, len(policy.Requirements))
		for _, requirement := range policy.Requirements {
			names = append(names, requirement.Name)
		}
		entry.Errors = append(entry.Errors, messageItem(fmt.Sprintf(
			"The result for this validation was externally registered but has been ignored because it is not found in "+
				"the validations for ValidationPolicy %s: %s.", policy.Identity, strings.Join(names, ", "))))
	}
	return entry
}

func ignoredStatus(status string) string { return "ignored [" + status + "]" }

// withExpiry tells when the entry's success ends by the policy that gives it the shortest life.
func withExpiry(policies []Policy, entry Entry) Entry {
	if strings.HasPrefix(entry.Name, ReservedPrefix) {
		return entry
	}
	for _, policy := range policies {
		for _, requirement := range policy.Requirements {
			at, expires := requirement.expiry(entry.CreatedAt)
			if expires && requirement.Name == entry.Name && (entry.ExpiresAt.IsZero() || at.Before(entry.ExpiresAt)) {
				entry.ExpiresAfter, entry.ExpiresAt = requirement.ExpiresAfter, at
			}
		}
	}
	return entry
}

// Summarize gives one line for each validation that was reported or is listed by a policy, sorted by name. worst holds
// the worst status word reported under each name.
func Summarize(policies []Policy, worst map[string]string) []Summary {
	required := Required(policies)
	summaries := make([]Summary, 0, len(worst)+len(required))
	for name, status := range worst {
		if len(policies) > 0 && !slices.Contains(required, name) {
			status = ignoredStatus(status)
		}
		summaries = append(summaries, Summary{name, status})
	}
	for _, name := range required {
		if _, reported := worst[name]; !reported {
			summaries = append(summaries, Summary{name, Failure.String()})
		}
	}
	slices.SortFunc(summaries, func(a, b Summary) int { return strings.Compare(a.Name, b.Name) })
	return summaries
}
