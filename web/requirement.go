package web

import (
	"time"

	"purser/internal/wire"
	"purser/internal/words"
)

// requirement is a validation that a policy requires, with its newest result.
type requirement struct {
	Name, Status string
	Policies     []string
	Newest       wire.Newest // zero if there is none
	Post         bool        // the user may post a result, which is lacking
}

// Own reports whether the server itself performs the validation.
func (r requirement) Own() bool { return wire.Validation{Name: r.Name}.Own() }

// newestIn returns the newest posted result of a validation; the zero result if nobody has posted one.
func newestIn(reported []wire.Validation, name string) (newest wire.Newest) {
	for _, validation := range reported {
		if validation.Name == name && validation.Newest != nil {
			return *validation.Newest
		}
	}
	return newest
}

// with returns the requirement with its newest result. mayPost reports whether the user may post results.
func (r requirement) with(newest wire.Newest, of wire.Revision, mayPost bool) requirement {
	r.Newest = newest
	if r.Own() && r.Status != "missing" {
		r.Newest.CreatedAt = of.CreatedAt // the server validates what it takes in
	}
	r.Post = mayPost && !r.Own() && r.Status != success && words.Line(r.Name) == r.Name
	return r
}

// requirementsOf lists the validations of a verdict, each once.
func requirementsOf(status wire.Verdict) (all []requirement) {
	at := map[string]int{}
	add := func(name, state, policy string) {
		i, known := at[name]
		if !known {
			i = len(all)
			at[name] = i
			all = append(all, requirement{Name: name, Status: state})
		}
		if all[i].Status == success {
			all[i].Status = state // another policy may ask for more
		}
		if policy != "" {
			all[i].Policies = append(all[i].Policies, policy)
		}
	}
	for _, policy := range status.Policies {
		for _, validation := range policy.Validations {
			add(validation.Name, validation.Status, policy.Name)
		}
	}
	for _, validation := range status.Validations {
		add(validation.Name, validation.Status, "")
	}
	return all
}

// statusIn returns the status of a validation in a verdict, with its message; the zero Validation if it was neither
// reported nor is required.
func statusIn(status wire.Verdict, name string) wire.Validation {
	for _, required := range requirementsOf(status) {
		if required.Name == name {
			return wire.Validation{Name: name, Status: required.Status}
		}
	}
	for _, ignored := range status.Ignored {
		if ignored.Name == name {
			return ignored
		}
	}
	return wire.Validation{}
}

// unrequired returns the validations that are not among the required ones.
func unrequired(all []wire.Validation, required []requirement) (others []wire.Validation) {
	known := map[string]bool{}
	for _, r := range required {
		known[r.Name] = true
	}
	for _, validation := range all {
		if !known[validation.Name] {
			others = append(others, validation)
		}
	}
	return others
}

// expiringNext returns the validation whose newest result is the next to expire, nil if none does.
func expiringNext(all []requirement, now time.Time) (next *requirement) {
	var soonest time.Time
	for i := range all {
		at, ok := all[i].Newest.ExpiresAt.Time()
		if ok && at.After(now) && (next == nil || at.Before(soonest)) {
			next, soonest = &all[i], at
		}
	}
	return next
}
