package queries

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/revisions"
	"purser/internal/validations"
)

// Of many large results only some megabytes of errors are read, in one question, and the answer says that there are more.
func TestView_Findings_bounded(t *testing.T) {
	t.Parallel()
	const results, size = 20, 1 << 20
	site := &site{
		revisions: []revisions.Revision{{ID: 1}}, outcomes: map[int64][]validations.Outcome{}, errors: map[int64][]byte{},
	}
	for i := range int64(results) {
		name := fmt.Sprintf("validation-%02d", i)
		site.outcomes[1] = append(site.outcomes[1], validations.Outcome{Name: name, Status: validations.Failure})
		site.reported = append(site.reported, Reported{ID: i + 1, Name: name, Status: "failure", Size: size})
		site.errors[i+1] = []byte(`[{"message": "wrong"}]`)
	}
	found, err := service(site).Findings(t.Context(), "1", FindingQuery{Limit: 2 * results})
	if err != nil {
		t.Fatal(err)
	}
	if len(site.ids) != 8 || len(found.Findings) != 8 || !found.More {
		t.Errorf("%d results were read, %d findings, more %v; want 8, 8, true", len(site.ids), len(found.Findings), found.More)
	}
	site.reported, site.ids = site.reported[:8], nil
	if found, err = service(site).Findings(t.Context(), "1", FindingQuery{Limit: 2 * results}); err != nil || found.More {
		t.Errorf("more %v, %v; want all of 8 MiB", found.More, err)
	}
}

// A validation that nobody can report is told from one that nobody has reported.
func TestOtherFindings_missing(t *testing.T) {
	t.Parallel()
	found := otherFindings(map[string]judgedAs{
		"purser-coverag-validation": {status: validations.Missing}, "site-validation": {status: validations.Missing},
		validations.CoverageValidation: {status: validations.Missing}, "terse-validation": {status: validations.Failure},
	}, map[string][]json.RawMessage{"terse-validation": nil})
	var got []string
	for _, f := range found {
		got = append(got, f.Validation+": "+f.Message+" ("+f.Advice+") "+f.Rule)
	}
	want := []string{
		"purser-coverag-validation: There will be no result: the server makes no such validation, and others cannot post one of this name; did you mean purser-coverage-validation? (correct the name in the ValidationPolicy) missing",
		"purser-coverage-validation: The server has not made this validation of the revision (upload a change: the server validates each new revision by itself) missing",
		"site-validation: Nobody has reported a result of this validation (have its service validate the revision and post the result) missing",
		"terse-validation: It failed, and its result does not say why (ask its service why, and have it post errors with its results) unexplained",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
