package queries

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/validations"
)

// A validation that can never have a result is distinguished from one without a result so far.
func TestJudged_OfResults_missing(t *testing.T) {
	t.Parallel()
	found := withFindings{by: map[string]statusLevel{
		"purser-coverag-validation": {Status: validations.Missing}, "site-validation": {Status: validations.Missing},
		validations.CoverageValidation: {Status: validations.Missing}, "terse-validation": {Status: validations.Failure},
	}}.ofResults(map[string][]json.RawMessage{"terse-validation": nil})
	var got []string
	for _, f := range found {
		got = append(got, f.Validation+": "+f.Message+" ("+f.Advice+") "+f.Rule)
	}
	want := []string{
		"purser-coverag-validation: There will be no result: the server makes no such validation, and others cannot post one of this name; did you mean purser-coverage-validation? (correct the name in the ValidationPolicy) missing",
		"purser-coverage-validation: The server has not made this validation of the revision (upload a change: the server validates each new revision by itself) missing",
		"site-validation: No result has been posted (have its service validate the revision and post the result) missing",
		"terse-validation: It failed, and its result does not say why (ask its service why, and have it post errors with its results) unexplained",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The number of warnings about schemas that are not in force is bounded.
func TestOfUncovered(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]int{0: 0, 1: 1, 1000: 1000, 1001: 1000} {
		all, more := ofUncovered(make([]validations.Uncovered, count))
		if len(all) != want || more != (count > want) {
			t.Errorf("%d findings about %d schemas, more %t", len(all), count, more)
		}
	}
}

// Of an error, only what its finding shows is decoded.
//
//nolint:paralleltest // AllocsPerRun counts allocations of other tests, too
func TestErrorFindings_decoded(t *testing.T) {
	members := make([]string, 100)
	for i := range members {
		members[i] = fmt.Sprintf(`"m%d": [%[1]d, "x"], `, i)
	}
	const format = `{"message": "wrong", "name": "D002", "diagnostic": {%s"schema_path": ".properties.port.type"}}`
	text := json.RawMessage(fmt.Sprintf(format, strings.Join(members, "")))
	var all []Finding
	allocations := testing.AllocsPerRun(10, func() { all = errorFindings(Finding{}, []json.RawMessage{text}) })
	if all[0].Rule != ".properties.port.type" || all[0].Message != "wrong" {
		t.Errorf("%+v", all[0])
	}
	if allocations > float64(len(members)) {
		t.Errorf("%v allocations", allocations)
	}
}
