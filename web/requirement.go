package web

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"purser/internal/wire"
	"purser/internal/words"
)

// requirement is a validation that a policy requires, with its newest result.
type requirement struct {
	wire.Validation

	Policies []string
	Newest   wire.Newest // zero if there is none
	Work     wire.Work   // on it; zero if there is none
	offers
}

// offers are what the user may do about a validation.
type offers struct {
	Post  bool // post a result by hand, if there are no approvals
	Vote  bool // approve or reject the revision
	Ask   bool // ask for a new result
	Waive bool
}

// offers returns what the user may do about validations that lack a success. Deckhand has results only.
func (v *visit) offers() offers {
	if v.Archived {
		return offers{}
	}
	post := v.may("deckhand:create_validation")
	return offers{
		Post: post && v.Compat, Vote: post && !v.Compat, Ask: post && !v.Compat,
		Waive: v.may("purser:create_waiver") && !v.Compat,
	}
}

// about returns those of the offers that make sense for a requirement.
func (o offers) about(r requirement) offers {
	if r.Own() || r.Status == "" || r.Status == inapplicable {
		return offers{}
	}
	required := len(r.Policies) > 0
	return offers{
		Post: o.Post && !r.Holds() && words.Line(r.Name) == r.Name, Vote: o.Vote && required,
		Ask: o.Ask && required && r.Newest.CreatedAt != "", Waive: o.Waive && required && !r.Holds() && !r.Advisory,
	}
}

// Acts names the forms of the page of the validation, such as "Approve, reject or waive"; "" if there are none.
func (o offers) Acts() string {
	var acts []string
	if o.Vote {
		acts = append(acts, "approve", "reject")
	}
	if o.Ask {
		acts = append(acts, "ask again")
	}
	if o.Waive {
		acts = append(acts, "waive")
	}
	if last := len(acts) - 1; last > 0 {
		acts = append(acts[:last-1], acts[last-1]+" or "+acts[last])
	}
	all := strings.Join(acts, ", ")
	return strings.ToUpper(all[:min(1, len(all))]) + all[min(1, len(all)):]
}

// inapplicable is the status of a validation whose condition selects no document.
const inapplicable = "not-applicable"

// work returns the work on the validations of a revision, by name, as far as the first page of the list has it.
func (v *visit) work(ctx context.Context, revision int64) (map[string]wire.Work, error) {
	if v.Compat || !v.may("deckhand:list_validations") {
		return nil, nil
	}
	var list wire.List[wire.Work]
	if err := v.api.Get(ctx, &list, url.Values{"limit": {"1000"}}, "claims"); err != nil {
		return nil, dropExpected(err)
	}
	found := map[string]wire.Work{}
	for _, w := range list.Results {
		if w.Revision == revision {
			found[w.Validation] = w
		}
	}
	return found, nil
}

// claimedWork is the state of work that somebody does.
const claimedWork = "claimed"

// workOn adds the work to requirements. Without a list, only who works is known.
func workOn(required []requirement, listed map[string]wire.Work) {
	for i, r := range required {
		if w, found := listed[r.Name]; found {
			required[i].Work = w
		} else if r.Claim != nil {
			required[i].Work = wire.Work{
				State: claimedWork, Worker: wire.Optional(r.Claim.Worker), Since: r.Claim.Since, Attempt: r.Claim.Attempt,
			}
		}
	}
}

// claimed reports whether somebody works on one of the requirements.
func claimed(required []requirement) bool {
	return slices.ContainsFunc(required, func(r requirement) bool { return r.Claim != nil })
}

// newestIn returns the newest posted result of a validation; the zero result if nobody has posted one.
func newestIn(reported []wire.Validation, name string) (newest wire.Newest) {
	for _, validation := range reported {
		if validation.Name == name && validation.Newest != nil {
			return *validation.Newest
		}
	}
	return newest
}

// with returns the requirement with its newest result, and with what the user may do about it.
func (r requirement) with(newest wire.Newest, of wire.Revision, may offers) requirement {
	r.Newest = newest
	if r.Own() && r.Status != "missing" && r.Status != inapplicable {
		r.Newest.CreatedAt = of.CreatedAt // the server validates what it takes in
	}
	r.offers = may.about(r)
	return r
}

// requirementsOf lists the validations of a verdict, each once.
func requirementsOf(status wire.Verdict) (all []requirement) {
	at := map[string]int{}
	add := func(v wire.Validation, policy string) {
		i, known := at[v.Name]
		if !known {
			i = len(all)
			at[v.Name] = i
			all = append(all, requirement{Validation: v})
		}
		if gravity(v) > gravity(all[i].Validation) { // another policy may ask for more
			all[i].Validation = v
		}
		if policy != "" {
			all[i].Policies = append(all[i].Policies, policy)
		}
	}
	for _, policy := range status.Policies {
		for _, validation := range policy.Validations {
			add(validation, policy.Name)
		}
	}
	for _, validation := range status.Validations {
		add(validation, "")
	}
	return all
}

// gravity orders the statuses of a validation in several policies: that of the one that asks for most counts.
func gravity(v wire.Validation) int {
	switch {
	case !v.Passes():
		return 4
	case v.Waived != nil:
		return 3
	case !v.Holds():
		return 2
	case v.Status == success:
		return 1
	}
	return 0
}

// requirementIn returns a validation of a verdict; without a status if it was neither reported nor is required.
func requirementIn(status wire.Verdict, name string) requirement {
	for _, required := range requirementsOf(status) {
		if required.Name == name {
			return required
		}
	}
	for _, ignored := range status.Ignored {
		if ignored.Name == name {
			return requirement{Validation: ignored}
		}
	}
	return requirement{Validation: wire.Validation{Name: name}}
}

// waivedIn returns the waivers that the status of a revision depends on, each once.
func waivedIn(revision wire.Revision) (all []wire.Waived) {
	for _, r := range requirementsOf(wire.Verdict{Policies: revision.Policies}) {
		if r.Waived != nil {
			w := *r.Waived
			w.Validation, w.Status = r.Name, r.Status
			all = append(all, w)
		}
	}
	return all
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
