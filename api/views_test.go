package api

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/wire"
)

// Names are shown as Python prints a tuple of strings, which Deckhand's clients may parse.
func TestTuple(t *testing.T) {
	t.Parallel()
	for want, texts := range map[string][]string{
		`('acme/A/v1', 'a')`:         {"acme/A/v1", "a"},
		`('a', 'b', 'c')`:            {"a", "b", "c"},
		`("it's")`:                   {"it's"},
		`('"it\'s"')`:                {`"it's"`},
		`('two\nlines', '\\', '\t')`: {"two\nlines", `\`, "\t"},
	} {
		if got := pythonTuple(texts...); got != want {
			t.Errorf("%q is shown as %s, want %s", texts, got, want)
		}
	}
}

// The differences of a bucket never hide another bucket.
func TestDeepDiff_names(t *testing.T) {
	t.Parallel()
	of := func(bucket string, difference revisions.Difference) queries.DeepDifference {
		return queries.DeepDifference{
			BucketDifference: revisions.BucketDifference{Bucket: bucket, Difference: difference},
		}
	}
	got, err := deepDiffView(t.Context(), []queries.DeepDifference{
		of("b", revisions.Modified), of("b diff", revisions.Created), of("c", revisions.Deleted),
	})
	if err != nil {
		t.Fatal(err)
	}
	const unused = "b diff" + " diff"
	want := map[string]any{"b": "modified", "b diff": "created", unused: bucketDiff{}, "c": "deleted"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPruned(t *testing.T) {
	t.Parallel()
	got := prunedView(revisions.Pruned{Revisions: []int64{1, 2, 3, 5, 8, 9}, Documents: 4, Remaining: 3}, true)
	want := wire.Pruned{
		DryRun: true, Documents: 4, Kept: 3,
		Revisions: wire.Ranges{Count: 6, Ranges: []wire.Range{{First: 1, Last: 3}, {First: 5, Last: 5}, {First: 8, Last: 9}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if none := prunedView(revisions.Pruned{}, false); none.Revisions.Ranges == nil {
		t.Error("no ranges are shown as null")
	}
}

func TestFindingLines(t *testing.T) {
	t.Parallel()
	host := document.Identity{Schema: "acme/Host/v1", Layer: "site", Name: "cmp-1"}
	for want, finding := range map[string]queries.Finding{
		"[acme/Host/v1, site] cmp-1 .data.rack: 99 is too many (bucket si te) (line 212, column 9)\n": {
			Document: host, Bucket: "si\nte", Path: ".data.rack", Message: "99 is too many", At: document.Position{Line: 212, Column: 9},
		},
		"site-validation: two lines (ask its service) (warning)\n": {
			Level: queries.LevelWarning, Validation: "site-validation", Message: "two\nlines", Hint: "ask its service",
		},
		"[acme/Host/v1, site] cmp-1: no branch fits (in the branch most likely meant, .a: it is no number)\n": {
			Document: host, Message: "no branch fits", Causes: []validations.Cause{{Path: ".a", Message: "it is no number"}},
		},
	} {
		if diff := cmp.Diff(want, findingLines([]queries.Finding{finding})); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	one := []queries.Finding{{}}
	for want, found := range map[string]queries.FindingList{
		"":                      {Findings: one, Counts: queries.Counts{Total: 1}},
		"and 4 more\n":          {Findings: one, Counts: queries.Counts{Total: 5}},
		"and at least 4 more\n": {Findings: one, Counts: queries.Counts{Total: 5, More: true}},
		"and perhaps others, which were not examined\n": {Findings: one, Counts: queries.Counts{Total: 1, More: true}},
	} {
		if got := restLine(found); got != want {
			t.Errorf("%+v: %q, want %q", found, got, want)
		}
	}
}

// Places are added only if every error has one.
func TestWithPlaces(t *testing.T) {
	t.Parallel()
	at := []document.Position{{Line: 3, Column: 5}, {}}
	for errs, want := range map[string]string{
		`[{"a":1},{"b":2}]`: `[{"a":1,"line":3,"column":5},{"b":2}]`,
		`[{"a":1}]`:         `[{"a":1}]`,
		`[{},{"b":2}]`:      `[{},{"b":2}]`,
		`{"a":1}`:           `{"a":1}`,
		`not JSON`:          `not JSON`,
	} {
		if got := string(withPlaces(json.RawMessage(errs), at)); got != want {
			t.Errorf("%s became %s, want %s", errs, got, want)
		}
	}
}

// URLs escape every name.
func TestLinks(t *testing.T) {
	t.Parallel()
	l := links{base: "https://purser.example"}
	for got, want := range map[string]string{
		l.revisionURL(7):           "https://purser.example/api/v1.0/revisions/7",
		l.validationURL(7, "a/ b"): "https://purser.example/api/v1.0/revisions/7/validations/a%2F%20b",
		l.packageURL(7, "io.é"):    "https://purser.example/api/v1.0/revisions/7/packages/io.%C3%A9",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
