package changes

import (
	"context"
	"maps"
	"slices"

	"purser/internal/budget"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Validator validates the revision that a diff makes: its documents by their schemas, and the whole revision as its
// policies require. It has no access to a store. With Withhold it skips everything that depends on secrets.
type Validator struct {
	Renderer

	Defaults revisions.Defaults
	// Always are the validations of a whole revision to perform; nil performs those that the policies require.
	Always []string
}

// required returns the names of the validations to perform.
func (v Validator) required(policies []validations.Policy) []string {
	if v.Always != nil {
		return v.Always
	}
	return v.Defaults.Required(policies)
}

// Judgement is the outcome of validating a diff.
type Judgement struct {
	Checks []revisions.Check // the checks that were made now
	// Failures are entries of the schema validation; the last Outside ones are about documents outside of the payload.
	Failures []revisions.Failure
	Outside  int
	Entries  int // of the schema validation
	// SecretFails and SecretOutside are as in revisions.Revision.
	SecretFails   bool
	SecretOutside int
	// Begun and Ended are the violations that the change adds and removes.
	Begun, Ended []revisions.Violation
	// Results are the outcomes of the validations of the whole revision.
	Results []RevisionResult
	// ClientVersions are the versions that the revision was judged with.
	ClientVersions validations.ClientVersions
	// Policies are the policies in force after the change, in order of place.
	Policies []validations.Policy
	// Inapplicable is as in revisions.Revision.
	Inapplicable []int
	// Rendered is the rendered revision, nil unless a policy required it and it has no errors.
	Rendered *Rendering
	// Holds are the results of earlier revisions that hold for this one.
	Holds []revisions.Hold

	rendering *Rendering // also with errors
	// Withheld reports whether documents that depend on secrets were skipped.
	Withheld bool
}

// Failed reports whether the schema validation fails.
func (j Judgement) Failed() bool {
	return j.SecretFails || slices.ContainsFunc(j.Failures, func(f revisions.Failure) bool { return !f.Rule.IsZero() })
}

// Validate judges a diff of a snapshot that has the parts of the site that Need returned. The change pays for what it
// brings, not for what was there before. Fault: Unavailable if that takes too much work at once; the next call goes on.
func (v Validator) Validate(ctx context.Context, snapshot revisions.Snapshot, diff revisions.Diff) (Judgement, error) {
	v.Renderer = v.bringing(diff.Added)
	scope, err := v.scope(ctx, snapshot, diff)
	if err != nil {
		return Judgement{}, err
	}
	checks, findings, err := v.check(ctx, snapshot, scope)
	if err != nil {
		return Judgement{}, err
	}
	policies, err := v.policiesAfter(budget.NewMeter(ctx), snapshot.Policies, diff)
	if err != nil {
		return Judgement{}, err
	}
	failing := v.failing(snapshot, diff, scope, findings)
	made := Judgement{
		Checks: checks, ClientVersions: scope.versions, Policies: policies, Withheld: scope.withheld,
	}
	if made.Inapplicable, err = inapplicable(ctx, policies, diff.After(snapshot.Documents)); err != nil {
		return made, err
	}
	made.Begun, made.Ended = changedViolations(snapshot.Violations, failing)
	made.Failures, made.Outside, made.Entries = entries(snapshot, diff, failing)
	for i, failure := range made.Failures {
		made.SecretFails = made.SecretFails || failure.Secret
		if failure.Secret && i >= len(made.Failures)-made.Outside {
			made.SecretOutside++
		}
	}
	made, err = v.validateRevision(ctx, snapshot, diff, made)
	if err != nil || v.Always != nil { // documents without a site have no other readers
		return made, err
	}
	holds, withheld, err := v.holds(ctx, snapshot, diff, made)
	if err != nil {
		return made, err
	}
	made.Holds, made.Withheld = holds, made.Withheld || withheld
	return made.joined(v.required(policies)), nil
}

// conditionSteps bounds the work on all conditions of a revision, in the budget's steps.
const conditionSteps = 2 * budget.Second

// place is what documents have in common whose selection differs by their labels alone.
type place struct{ schema, bucket, layer string }

// inapplicable returns the positions of the requirements whose conditions select none of the documents of a revision.
// If the work exceeds its bound, which is separate from the request's budget, the conditions that are left apply. The
// work that is counted depends on the documents, and not on their order.
func inapplicable(ctx context.Context, policies []validations.Policy, documents []*revisions.Stored) ([]int, error) {
	const perItem, perPlace, perLabel = 15, 60, 60
	if !validations.Conditional(policies) {
		return nil, nil
	}
	places := map[place][]*revisions.Stored{}
	for _, doc := range documents {
		if !doc.Traits().Abstract {
			at := place{doc.Schema, doc.Bucket, doc.Layer}
			places[at] = append(places[at], doc)
		}
	}
	meter := budget.NewMeter(budget.Confined(ctx, conditionSteps))
	var exceeded error
	positions := validations.Inapplicable(policies, func(s validations.Selection) bool {
		if exceeded == nil {
			meter.Charge(len(places)*(perPlace+perItem*s.Size()) + len(documents)*perLabel*len(s.Labels))
			exceeded = meter.Check()
		}
		if exceeded != nil {
			return true
		}
		for at, of := range places {
			if s.MatchesPlace(at.schema, at.bucket, at.layer) && slices.ContainsFunc(of, func(doc *revisions.Stored) bool {
				return s.MatchesTraits(doc.Traits())
			}) {
				return true
			}
		}
		return false
	})
	return positions, contextError(ctx, exceeded)
}

// joined makes the validations that look at values fail together if one of them fails because of a secret. Their
// statuses, which everybody may see, then reveal no more of a secret than that something fails. The schema validation,
// which is always made, does not make the others fail unless it is required too: a revision does not fail because of a
// validation that does not count.
func (j Judgement) joined(required []string) Judgement {
	counts := slices.Contains(required, validations.SchemaValidation) ||
		slices.Contains(required, validations.SchemaValidationAlias)
	fails := j.SecretFails && counts
	for _, result := range j.Results {
		fails = fails || result.looksAtValues() && slices.ContainsFunc(result.Messages, isSecret)
	}
	if !fails {
		return j
	}
	j.SecretFails = true
	j.Results = slices.Clone(j.Results)
	for i, result := range j.Results {
		j.Results[i] = result.Joined()
	}
	return j
}

// Need returns the parts of the site needed to judge a diff. A larger snapshot may need more. Fault: that of
// checkPolicies.
func (v Validator) Need(ctx context.Context, snapshot revisions.Snapshot, diff revisions.Diff) (revisions.Need, error) {
	if !diff.Changes {
		return revisions.Need{}, nil
	}
	need := revisions.Need{Evidence: true, Kinds: Kinds(diff.Added)}
	v.Renderer = v.bringing(diff.Added)
	policies, err := v.policiesAfter(budget.NewMeter(ctx), snapshot.Policies, diff)
	if err != nil {
		return need, err
	}
	if need.Inputs, err = v.inputsNeeded(snapshot, policies); err != nil {
		return need, err
	}
	if diff.CarriedFrom > 0 {
		need.Votes = revisions.Ballots(diff.CarriedFrom, validations.Voted(policies))
	}
	if v.requiresRevisionValidation(policies) || validations.Conditional(policies) || len(snapshot.Inputs) > 0 ||
		layered(givingVersions(diff.After(snapshot.ClientVersions))) {
		need.Documents = true
		if snapshot.Documents == nil && snapshot.Live > 0 {
			return need, nil
		}
	}
	scope, err := v.scope(ctx, snapshot, diff)
	if err != nil {
		return need, err
	}
	need.Schemas = scope.versions.Digest() != snapshot.Newest.ClientVersions || len(scope.governed) > 0 ||
		scope.hasReferences() // read together: a chain of references would take as many reads
	need.Governed = slices.Sorted(maps.Keys(scope.governed))
	need.Kinds = append(need.Kinds, need.Governed...)
	need.Checks = scope.recorded(snapshot, diff)
	lookedUp := snapshot.Checks != nil || len(need.Checks) == 0
	need.Positions = diff.Result == nil && (hasEntries(snapshot, diff) || lookedUp && scope.mayFail(snapshot))
	return need, nil
}

// inputsNeeded returns the validations whose inputs are needed to judge a change after which policies are in force.
// Before the policies in force now are read, it is none if there would be too many. Fault: that of checkPolicies.
func (v Validator) inputsNeeded(snapshot revisions.Snapshot, policies []validations.Policy) ([]string, error) {
	known := snapshot.Revision == 0 || snapshot.Newest.ID > 0
	if known {
		if err := checkPolicies(revisions.InForce(snapshot.Policies, snapshot.Revision), policies); err != nil {
			return nil, err
		}
	}
	if v.Always != nil || v.Compat || !known && required(policies) > maxRequired {
		return nil, nil
	}
	return validations.Carried(policies), nil
}

// Kinds returns the schemas of documents, sorted and without duplicates.
func Kinds(documents []*revisions.Stored) []string {
	set := map[string]bool{}
	for _, doc := range documents {
		set[doc.Schema] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// failing returns the rules that documents of the new revision violate, by document: those known from the snapshot, and
// new findings about the subjects.
func (v Validator) failing(snapshot revisions.Snapshot, diff revisions.Diff, s scope,
	findings map[validations.Pair][]validations.Finding,
) map[int64]revisions.Violation {
	gone, failing := revisions.IDs(diff.Removed), map[int64]revisions.Violation{}
	for _, known := range snapshot.Violations {
		if !gone[known.Document] && (!known.Secret || !v.Withhold) {
			failing[known.Document] = known
		}
	}
	for _, doc := range s.subjects {
		delete(failing, doc.ID)
		if pair, checked := s.pairs[doc]; checked && len(findings[pair.Name()]) > 0 {
			secret := isEncrypted(doc) || s.book.isSecret(pair.Rule)
			failing[doc.ID] = revisions.Violation{Document: doc.ID, Rule: pair.Rule, Secret: secret}
		}
	}
	return failing
}

// changedViolations compares the known violations with the rules that documents of the new revision violate. Those that
// begin are in order of the documents.
func changedViolations(known []revisions.Violation, failing map[int64]revisions.Violation) (
	begun, ended []revisions.Violation,
) {
	lasting := make(map[int64]bool, len(known))
	for _, violation := range known {
		if lasting[violation.Document] = failing[violation.Document].Rule == violation.Rule; !lasting[violation.Document] {
			ended = append(ended, violation)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(failing)) {
		if !lasting[id] {
			begun = append(begun, revisions.Violation{Document: id, Rule: failing[id].Rule, Secret: failing[id].Secret})
		}
	}
	return begun, ended
}
