package web

import (
	"net/url"
	"strings"
	"time"

	"purser/internal/wire"
	"purser/internal/words"
)

// requirement is a validation that a policy requires, with its newest result.
type requirement struct {
	Name, Status string
	Policies     []string
	Newest       wire.Newest // zero if there is none
	Who          string      // posted it; "" if unknown
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

// with returns the requirement with its newest result, and who posted it. mayPost reports whether the user may post
// results.
func (r requirement) with(newest wire.Newest, of wire.Revision, posts []wire.AuditEvent, mayPost bool) requirement {
	r.Newest = newest
	if r.Own() && r.Status != "missing" {
		r.Newest.CreatedAt = of.CreatedAt // the server validates what it takes in
	}
	r.Who = posterOf(posts, r.Name, r.Newest.CreatedAt)
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

// posterOf returns the user who posted a result, from the audit, newest first, because results do not have it. A result
// and its event are stored by one statement; its time is the database's, and that of the event the server's. It is ""
// if the audit has no such event: it goes back less far, or the result was carried over from another revision.
func posterOf(events []wire.AuditEvent, validation string, createdAt wire.Optional) string {
	const skew = time.Minute
	created, known := createdAt.Time()
	for _, e := range events {
		at, err := url.Parse(e.Target)
		posted, ok := e.At.Time()
		if err != nil || e.Rule != "deckhand:create_validation" || e.Status/100 != 2 ||
			!known || !ok || posted.Sub(created).Abs() > skew {
			continue
		}
		if name, err := url.PathUnescape(at.EscapedPath()[strings.LastIndexByte(at.EscapedPath(), '/')+1:]); err == nil &&
			name == validation {
			return e.Who()
		}
	}
	return ""
}
