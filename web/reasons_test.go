package web

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/validations"
	"purser/internal/wire"
)

func TestVerdictOf(t *testing.T) {
	t.Parallel()
	about := func(validation, message string, advice wire.Optional, of *wire.Identity) wire.Finding {
		return wire.Finding{Level: "error", Validation: validation, Message: message, Advice: advice, Document: of}
	}
	gate := func(of ...wire.Validation) []wire.Policy {
		return []wire.Policy{{Name: "gate", Status: "failure", Validations: of}}
	}
	one, two := &wire.Identity{Name: "one"}, &wire.Identity{Name: "two"}
	for name, c := range map[string]struct {
		status wire.Verdict
		found  []wire.Finding
		number wire.Number
		want   []problem
	}{
		"success": {status: wire.Verdict{Status: "success", Policies: []wire.Policy{{Name: "gate", Status: "success"}}}},
		"missing": {
			status: wire.Verdict{Status: "failure", Policies: gate(wire.Validation{Name: "a", Status: "missing"})},
			want: []problem{{
				"a", "gate", "missing", "No result has been posted for a.",
				"Have its service validate this revision and post the result.",
			}},
		},
		"approvals": {
			status: wire.Verdict{Status: "failure", Policies: gate(wire.Validation{Name: "a", Status: "missing", Message: "1 of 2 approvals, by anna"})},
			found:  []wire.Finding{about("a", "1 of 2 approvals, by anna", "have more users approve the revision", nil)},
			want:   []problem{{"a", "gate", "missing", "a is missing: 1 of 2 approvals, by anna.", "Have more users approve the revision."}},
		},
		"claimed": {
			status: wire.Verdict{Status: "failure", Policies: gate(
				wire.Validation{Name: "a", Status: "missing", Message: "claimed by w since 10:00:00", Claim: &wire.Claimed{Worker: "w"}},
				wire.Validation{Name: "b", Status: "expired", Message: "claimed by w since 10:00:00", Claim: &wire.Claimed{Worker: "w"}})},
			found: []wire.Finding{about("a", "No result has been posted", "have its service validate", nil)},
			want: []problem{
				{"a", "gate", "missing", "a is missing: claimed by w since 10:00:00.", "Wait for the result."},
				{"b", "gate", "expired", "The result of b has expired; it is claimed by w since 10:00:00.", "Wait for the result."},
			},
		},
		"those that pass": {
			status: wire.Verdict{Status: "failure", Policies: gate(
				wire.Validation{Name: "a", Status: "failure", Waived: &wire.Waived{}}, wire.Validation{Name: "b", Status: "failure", Advisory: true},
				wire.Validation{Name: "c", Status: "not-applicable"}, wire.Validation{Name: "d", Status: "missing"})},
			want: []problem{{
				"d", "gate", "missing", "No result has been posted for d.",
				"Have its service validate this revision and post the result.",
			}},
		},
		"expired": {
			status: wire.Verdict{Status: "failure", Policies: gate(wire.Validation{Name: "a", Status: "expired"})},
			found:  []wire.Finding{about("a", "It is old", "validate again", nil)},
			want:   []problem{{"a", "gate", "expired", "The result of a has expired.", "Validate again."}},
		},
		"documents": {
			status: wire.Verdict{Status: "failure", Policies: gate(wire.Validation{Name: "a", Status: "failure"})},
			found:  []wire.Finding{about("a", "x", "", one), about("a", "y", "", one), about("a", "z", "", two), about("b", "z", "", two)},
			number: wire.Number{Name: "a", Level: "error", Findings: 3, Documents: 2},
			want: []problem{{
				"a", "gate", "failure", "a failed: 3 findings in 2 documents.",
				"Correct the documents below, upload their buckets again, and have its service validate the new revision.",
			}},
		},
		"own, in documents": {
			status: wire.Verdict{Status: "failure", Policies: gate(wire.Validation{Name: "deckhand-x", Status: "failure"})},
			found:  []wire.Finding{about("deckhand-x", "x", "", one)},
			number: wire.Number{Name: "deckhand-x", Level: "error", Findings: 1, Documents: 1},
			want: []problem{{
				"deckhand-x", "gate", "failure", "deckhand-x failed: 1 finding in 1 document.",
				"Correct the documents below and upload their buckets again.",
			}},
		},
		"not all are listed": {
			status: wire.Verdict{Status: "failure", Policies: gate(wire.Validation{Name: "m", Status: "missing"}, wire.Validation{Name: "deckhand-x", Status: "failure"})},
			found:  []wire.Finding{about("deckhand-x", "x", "", one)},
			number: wire.Number{Name: "deckhand-x", Level: "error", Findings: 1661, Documents: 1000, Unnamed: true},
			want: []problem{
				{
					"deckhand-x", "gate", "failure", "deckhand-x failed: 1661 findings in at least 1000 documents.",
					"Correct the documents below and upload their buckets again.",
				},
				{
					"m", "gate", "missing", "No result has been posted for m.",
					"Have its service validate this revision and post the result.",
				},
			},
		},
		"not all were read": {
			status: wire.Verdict{Status: "failure", Policies: gate(wire.Validation{Name: "deckhand-x", Status: "failure"})},
			number: wire.Number{Name: "deckhand-x", Level: "error", Findings: 10000, Documents: 10000, More: true},
			want: []problem{{
				"deckhand-x", "gate", "failure", "deckhand-x failed: at least 10000 findings in at least 10000 documents.",
				"Correct the documents below and upload their buckets again.",
			}},
		},
		"without errors": {
			status: wire.Verdict{Status: "failure", Policies: gate(wire.Validation{Name: "a", Status: "failure"})},
			found: []wire.Finding{{
				Level: "error", Validation: "a", Rule: "unexplained", Message: "any words", Advice: "ask its service why",
			}},
			want: []problem{{
				"a", "gate", "failure", "a failed, and its result does not say why.", "Ask its service why.",
			}},
		},
		"posted": {
			status: wire.Verdict{Status: "failure", Policies: gate(wire.Validation{Name: "a", Status: "failure"})},
			found:  []wire.Finding{about("a", "no such disk", "", nil)},
			want: []problem{{
				"a", "gate", "failure", "a failed: No such disk.", "Correct that, and have its service validate the new revision.",
			}},
		},
		"no policy": {
			status: wire.Verdict{Status: "failure", Validations: []wire.Validation{{Name: "a", Status: "failure"}, {Name: "b", Status: "success"}}},
			want: []problem{{
				"a", "", "failure", "a failed.",
				"Look at its results, correct what they name, and have its service validate the new revision.",
			}},
		},
		"own": {
			status: wire.Verdict{Status: "failure", Policies: gate(wire.Validation{Name: "deckhand-policy-validation", Status: "failure"})},
			found:  []wire.Finding{about("deckhand-policy-validation", "no layers", "", nil)},
			want: []problem{{
				"deckhand-policy-validation", "gate", "failure", "deckhand-policy-validation failed: No layers.",
				"Correct the documents and push them again.",
			}},
		},
		"own with advice": {
			status: wire.Verdict{Status: "failure", Policies: gate(wire.Validation{Name: "deckhand-policy-validation", Status: "failure"})},
			found:  []wire.Finding{about("deckhand-policy-validation", "no layers", "add some", nil)},
			want: []problem{{
				"deckhand-policy-validation", "gate", "failure", "deckhand-policy-validation failed: No layers.", "Add some.",
			}},
		},
		"no such": {
			status: wire.Verdict{Status: "failure", Policies: gate(wire.Validation{Name: "deckhand-x-validation", Status: "missing"})},
			found:  []wire.Finding{about("deckhand-x-validation", "There will be none", "correct the name", nil)},
			want: []problem{{
				"deckhand-x-validation", "gate", "missing", "There is no result of deckhand-x-validation. There will be none.",
				"Correct the name.",
			}},
		},
		"broken policy": {
			status: wire.Verdict{Status: "failure", Policies: gate(wire.Validation{Name: "a", Status: "success"})},
			want: []problem{{
				"", "gate", "failure", "The policy gate itself cannot be satisfied.",
				"Correct the policy's document; the findings say how.",
			}},
		},
	} {
		got := verdictOf(c.status, wire.Findings{
			Findings: c.found, Counts: wire.Counts{ByValidation: []wire.Number{c.number}},
		})
		if diff := cmp.Diff(c.want, got.Reasons); diff != "" || got.OK != (c.status.Status == "success") {
			t.Errorf("%s: OK is %t (-want +got):\n%s", name, got.OK, diff)
		}
	}
}

// TestOf_own checks the advice for the server's own validations that share findings with others.
func TestVerdictOf_own(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Concat(validations.DefaultValidations(), validations.Optional(), []string{validations.SchemaValidationAlias}) {
		failed := wire.Validation{Name: name, Status: "failure"}
		want := problem{name, "", "failure", name + " failed.", "Correct the documents and push them again."}
		if diff := cmp.Diff(want, reasonOf(failed, "", wire.Findings{})); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if !failed.Own() || !(requirement{Validation: failed}).Own() {
			t.Errorf("%s is of somebody else", name)
		}
	}
}
