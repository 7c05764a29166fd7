package queries

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	of := func(name string, status validations.Status) validations.Judged {
		return validations.Judged{Name: name, Status: status}
	}
	for name, c := range map[string]struct {
		verdict validations.Verdict
		want    map[string]statusLevel
	}{
		"of policies": {
			validations.Verdict{Policies: []validations.PolicyVerdict{
				{Validations: []validations.Judged{of("a", validations.Success), of("b", validations.Failure)}},
				{Validations: []validations.Judged{of("c", validations.Missing), of("b", validations.Failure)}},
			}},
			map[string]statusLevel{"b": {Status: validations.Failure, Level: LevelError}, "c": {Status: validations.Missing, Level: LevelError}},
		},
		"of reported ones": {
			validations.Verdict{Reported: []validations.Judged{of("a", validations.Failure), of("b", validations.Success)}},
			map[string]statusLevel{"a": {Status: validations.Failure, Level: LevelError}},
		},
		"of ignored ones, which a policy may list too": {
			validations.Verdict{
				Policies: []validations.PolicyVerdict{{Validations: []validations.Judged{of("a", validations.Expired)}}},
				Ignored:  []validations.Judged{of("a", validations.Expired), of("b", validations.Failure)},
			},
			map[string]statusLevel{"a": {Status: validations.Expired, Level: LevelError}, "b": {Status: validations.Failure, Level: LevelWarning}},
		},
		"of one that does not apply in one policy, and fails in another one": {
			validations.Verdict{Policies: []validations.PolicyVerdict{
				{Validations: []validations.Judged{of(validations.PolicyValidation, validations.NotApplicable)}},
				{Validations: []validations.Judged{of(validations.PolicyValidation, validations.Failure)}},
			}},
			map[string]statusLevel{validations.PolicyValidation: {Status: validations.Failure, Level: LevelError}},
		},
		"of those that fail nothing": {
			validations.Verdict{Policies: []validations.PolicyVerdict{{Validations: []validations.Judged{
				{Name: "a", Status: validations.Failure, Advisory: true},
				{Name: "b", Status: validations.Missing, Waiver: &validations.Waiver{}},
				of("c", validations.NotApplicable),
			}}}},
			map[string]statusLevel{
				"a": {Status: validations.Failure, Level: LevelWarning},
				"b": {Status: validations.Missing, Level: LevelWarning},
			},
		},
		"of one that is advisory in one policy only": {
			validations.Verdict{Policies: []validations.PolicyVerdict{
				{Validations: []validations.Judged{{Name: "a", Status: validations.Failure, Advisory: true}}},
				{Validations: []validations.Judged{{Name: "a", Status: validations.Missing, Message: "1 of 2", Approved: true}}},
			}},
			map[string]statusLevel{"a": {Status: validations.Missing, Level: LevelError, Votes: "1 of 2"}},
		},
		"of one that gives warnings": {
			validations.Verdict{Reported: []validations.Judged{of(validations.RenderingValidation, validations.Success)}},
			map[string]statusLevel{validations.RenderingValidation: {Status: validations.Success, Level: LevelError}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, withFindingsIn(c.verdict).by); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A failure of the schema validation is judged by the more severe of its two names; a broken policy is always an error.
func TestJudged_OfDocument(t *testing.T) {
	t.Parallel()
	policy := document.Identity{Schema: "deckhand/ValidationPolicy/v1", Name: "gate"}
	about := &revisions.Stored{Bucket: "site", Document: &document.Document{
		Identity: policy, Metadata: []byte("{}"), Data: []byte(`{"a":{"b":7}}`),
	}}
	errs := []validations.Error{
		{Schema: policy.Schema, Name: policy.Name, Message: "broken", Path: ".data.a.b", SchemaPath: ".properties.a.type"},
		{Schema: "acme/Host/v1", Layer: "site", Name: "cmp-1", Message: "wrong", SchemaPath: ".required"},
	}
	failed := func(name string) []validations.Judged {
		return []validations.Judged{{Name: name, Status: validations.Failure}}
	}
	broken := []validations.PolicyVerdict{{Policy: validations.Policy{Identity: policy, Broken: true}}}
	for name, c := range map[string]struct {
		verdict validations.Verdict
		want    []string
	}{
		"success": {validations.Verdict{Policies: broken}, nil},
		"ignored": {
			validations.Verdict{Policies: broken, Ignored: failed(validations.SchemaValidation)},
			[]string{"error deckhand-schema-validation broken 7", "warning deckhand-schema-validation wrong "},
		},
		"required under the other name": {
			validations.Verdict{
				Policies: []validations.PolicyVerdict{{Validations: failed(validations.SchemaValidationAlias)}},
				Ignored:  failed(validations.SchemaValidation),
			},
			[]string{
				"error " + validations.SchemaValidationAlias + " broken 7", "error " + validations.SchemaValidationAlias + " wrong ",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged := withFindingsIn(c.verdict)
			var got []string
			for _, f := range judged.ofDocument(about, errs) {
				got = append(got, f.Level.String()+" "+f.Validation+" "+f.Message+" "+string(f.Value))
			}
			_, _, fails := judged.schema()
			if diff := cmp.Diff(c.want, got); diff != "" || fails != (c.want != nil) {
				t.Errorf("fails: %v (-want +got)\n%s", fails, diff)
			}
		})
	}
}
