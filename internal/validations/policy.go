package validations

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sosodev/duration"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/words"
)

// PolicyPrefix is the prefix of the schema of every ValidationPolicy, in any version.
const PolicyPrefix = "deckhand/ValidationPolicy/"

// Policy is a ValidationPolicy document, which lists the validations that a revision needs.
type Policy struct {
	document.Identity

	Requirements []Requirement
	// Broken is set if the document violates its schema. Such a policy always fails.
	Broken bool
}

// Requirement is one validation that a policy lists.
type Requirement struct {
	Name         string
	ExpiresAfter string // ISO 8601 duration; "" if a success does not expire
	lifetime     time.Duration
	// When selects the documents that a revision must have for the requirement to apply; nil if it always does.
	When *Selection
	// Approvals is the number of users whose newest results must be successes; 0 if the newest result counts.
	Approvals int
	// Advisory requirements make warnings, but never fail the verdict.
	Advisory bool
	// Inapplicable is set by Applied.
	Inapplicable bool
}

// Applied returns the policies of a revision with those requirements marked that do not apply to it, which are given by
// their sorted positions among all of them.
func Applied(policies []Policy, inapplicable []int) []Policy {
	if len(inapplicable) == 0 {
		return policies
	}
	policies = slices.Clone(policies)
	first := 0
	for i := range policies {
		requirements := slices.Clone(policies[i].Requirements)
		for n := range requirements {
			_, marked := slices.BinarySearch(inapplicable, first+n)
			requirements[n].Inapplicable = requirements[n].When != nil && marked
		}
		policies[i].Requirements, first = requirements, first+len(requirements)
	}
	return policies
}

// Carried returns the names of the validations by others that policies of Applied need, without duplicates, in order:
// those whose results a revision may take over from others because they depend on some documents only.
func Carried(policies []Policy) []string {
	return names(policies, func(r Requirement) bool { return !r.Inapplicable && !IsReserved(r.Name) })
}

// Conditional reports whether a requirement of the policies has a condition.
func Conditional(policies []Policy) bool {
	return slices.ContainsFunc(policies, func(p Policy) bool {
		return slices.ContainsFunc(p.Requirements, func(r Requirement) bool { return r.When != nil })
	})
}

// Voted returns the names of the validations that need approvals, without duplicates, in order.
func Voted(policies []Policy) []string {
	return names(policies, func(r Requirement) bool { return r.Approvals > 0 })
}

// Inapplicable returns the positions, among all requirements of policies, of those that do not apply to a revision.
// selects reports whether a selection selects a document of the revision.
func Inapplicable(policies []Policy, selects func(Selection) bool) (positions []int) {
	first := 0
	for _, policy := range policies {
		for n, requirement := range policy.Requirements {
			if requirement.When != nil && !selects(*requirement.When) {
				positions = append(positions, first+n)
			}
		}
		first += len(policy.Requirements)
	}
	return positions
}

// UnlistedWarning returns a warning that no policy in force lists a validation, whose results are therefore ignored. It
// returns "" if one does, or if there are no policies.
func UnlistedWarning(policies []Policy, name string) string {
	const maxCandidates = 1000
	listed := Required(policies)
	if len(policies) == 0 || slices.Contains(listed, name) {
		return ""
	}
	warning := "No ValidationPolicy of the revision lists " + name + ", so its results are ignored"
	if nearest := nearestName(name, listed[:min(len(listed), maxCandidates)]); nearest != "" {
		warning += "; did you mean " + nearest + "?"
	}
	return warning
}

// nearestName returns the name that is most similar to the name of a validation, "" if none is. The ending that most
// names share makes no two of them similar.
func nearestName(name string, names []string) string {
	const ending = "-validation"
	stem, ends := strings.CutSuffix(name, ending)
	if !ends {
		return words.Nearest(name, names)
	}
	var stems, others []string
	for _, candidate := range names {
		if s, ok := strings.CutSuffix(candidate, ending); ok {
			stems = append(stems, s)
		} else {
			others = append(others, candidate)
		}
	}
	if nearest := words.Nearest(stem, stems); nearest != "" {
		return nearest + ending
	}
	return words.Nearest(name, others)
}

// ParsePolicy parses a stored ValidationPolicy. It returns the valid requirements of a broken one. With compat, as in
// Deckhand, a requirement has no keys but name and expiresAfter.
//
//nolint:contextcheck,nolintlint // no request pays for it
func ParsePolicy(id document.Identity, data []byte, compat bool) Policy {
	// The check needs no request's budget: the schema is small, and it was paid for when the policy was uploaded.
	findings, err := policySchema(compat).compiled().Check(budget.NewMeter(context.Background()), data)
	policy := Policy{Identity: id, Broken: err != nil || len(findings) > 0}
	value, err := document.ParseJSON(data)
	if err != nil {
		policy.Broken = true
		return policy
	}
	items, _ := document.Locate(value, []string{"validations"}).([]any)
	for _, item := range items {
		m, _ := item.(document.Mapping)
		name, _ := m.At("name").(string)
		if name == "" {
			continue
		}
		requirement := Requirement{Name: name}
		requirement.ExpiresAfter, _ = m.At("expiresAfter").(string)
		if requirement.ExpiresAfter != "" {
			lifetime, err := duration.Parse(requirement.ExpiresAfter)
			if err != nil {
				policy.Broken = true
				continue
			}
			requirement.lifetime = span(lifetime)
		}
		if when, has := m.Lookup("when"); has && !compat {
			selection, err := ParseSelection("when", when)
			if err != nil {
				policy.Broken = true
				continue
			}
			requirement.When = &selection
		}
		if !compat {
			requirement.Advisory, _ = m.At("advisory").(bool)
			approvals, _ := m.At("approvals").(document.Number)
			requirement.Approvals, _ = strconv.Atoi(string(approvals))
		}
		policy.Requirements = append(policy.Requirements, requirement)
	}
	return policy
}

// span converts a duration. Durations longer than Go's maximum of 292 years become that maximum.
func span(d *duration.Duration) time.Duration {
	const hour, day, year = 3600, 24 * 3600, 365 * 24 * 3600
	seconds := d.Years*year + d.Months*year/12 + d.Weeks*7*day + d.Days*day + d.Hours*hour + d.Minutes*60 + d.Seconds
	if seconds >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(seconds * float64(time.Second))
}

// Expiry returns when a success reported at a given time expires; ok is false if it does not expire.
func (r Requirement) Expiry(success time.Time) (at time.Time, ok bool) {
	if r.ExpiresAfter == "" {
		return time.Time{}, false
	}
	return success.Add(r.lifetime), true
}

// Required returns the names of all validations that policies list, without duplicates, in order.
func Required(policies []Policy) []string {
	return names(policies, func(Requirement) bool { return true })
}

// names returns the names of the requirements that a condition holds for, without duplicates, in order.
func names(policies []Policy, that func(Requirement) bool) (names []string) {
	seen := map[string]bool{}
	for _, policy := range policies {
		for _, requirement := range policy.Requirements {
			if that(requirement) && !seen[requirement.Name] {
				seen[requirement.Name] = true
				names = append(names, requirement.Name)
			}
		}
	}
	return names
}

// spoken matches a duration as people and Go write it, such as 24h.
var spoken = regexp.MustCompile(`(?i)^\s*(\d{1,9})\s*([smhdw])(?:ec(?:ond)?s?|in(?:ute)?s?|(?:ou)?rs?|ays?|eeks?)?\s*$`)

// AsDuration returns a duration such as 24h in the form of ISO 8601 that ValidationPolicies use, PT24H; "" if it is not
// a duration.
func AsDuration(text string) string {
	found := spoken.FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	number, unit := found[1], strings.ToUpper(found[2])
	if unit == "D" || unit == "W" {
		return "P" + number + unit
	}
	return "PT" + number + unit
}
