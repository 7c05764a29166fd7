package validations

import (
	"context"
	"math"
	"time"

	"github.com/sosodev/duration"

	"purser/internal/budget"
	"purser/internal/document"
)

// PolicyPrefix begins the schema of every ValidationPolicy, whatever its version.
const PolicyPrefix = "deckhand/ValidationPolicy/"

// Policy is a ValidationPolicy document: the validations that a revision needs to be fit for use.
type Policy struct {
	document.Identity

	Requirements []Requirement
	// Broken says that the document does not say what a ValidationPolicy must say; it can never be met.
	Broken bool
}

// Requirement is one validation that a policy lists.
type Requirement struct {
	Name         string
	ExpiresAfter string // ISO 8601 duration; "" means that a success stays one
	lifetime     time.Duration
}

// ParsePolicy reads a stored ValidationPolicy. It takes what it can from a broken one, which then cannot be met.
func ParsePolicy(id document.Identity, data []byte) Policy {
	// The schema is small, and what the policy takes was counted when it was taken in; so it has a budget of its own here.
	findings, err := builtins["deckhand/ValidationPolicy/v1"].compiled.Check(budget.NewMeter(context.Background()), data)
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
		policy.Requirements = append(policy.Requirements, requirement)
	}
	return policy
}

// span is a duration, or the longest that Go knows (292 years) if it is longer.
func span(d *duration.Duration) time.Duration {
	const hour, day, year = 3600, 24 * 3600, 365 * 24 * 3600
	seconds := d.Years*year + d.Months*year/12 + d.Weeks*7*day + d.Days*day + d.Hours*hour + d.Minutes*60 + d.Seconds
	if seconds >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(seconds * float64(time.Second))
}

// expiry is when a success of a time stops being one; ok is false if it never does.
func (r Requirement) expiry(success time.Time) (at time.Time, ok bool) {
	if r.ExpiresAfter == "" {
		return time.Time{}, false
	}
	return success.Add(r.lifetime), true
}

// Required returns the names that any of the policies lists, in order of first mention.
func Required(policies []Policy) []string {
	var names []string
	seen := map[string]bool{}
	for _, policy := range policies {
		for _, requirement := range policy.Requirements {
			if !seen[requirement.Name] {
				seen[requirement.Name] = true
				names = append(names, requirement.Name)
			}
		}
	}
	return names
}
