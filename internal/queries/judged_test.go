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
			map[string]statusLevel{"b": {validations.Failure, LevelError}, "c": {validations.Missing, LevelError}},
		},
		"of reported ones": {
			validations.Verdict{Reported: []validations.Judged{of("a", validations.Failure), of("b", validations.Success)}},
			map[string]statusLevel{"a": {validations.Failure, LevelError}},
		},
		"of ignored ones, which a policy may list too": {
			validations.Verdict{
				Policies: []validations.PolicyVerdict{{Validations: []validations.Judged{of("a", validations.Expired)}}},
				Ignored:  []validations.Judged{of("a", validations.Expired), of("b", validations.Failure)},
			},
			map[string]statusLevel{"a": {validations.Expired, LevelError}, "b": {validations.Failure, LevelWarning}},
		},
		"of one that gives warnings": {
			validations.Verdict{Reported: []validations.Judged{of(validations.RenderingValidation, validations.Success)}},
			map[string]statusLevel{validations.RenderingValidation: {validations.Success, LevelError}},
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
