package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"purser/internal/check"
	"purser/internal/wire"
)

var record = flag.Bool("record", false, "write the golden files")

// previewOf returns the preview of revision 5 with the validations of one policy, as "NAME STATUS".
func previewOf(changed bool, status string, validations ...string) wire.Preview[wire.Finding] {
	policy := wire.Policy{Name: "p", Status: status}
	for _, v := range validations {
		name, status, _ := strings.Cut(v, " ")
		policy.Validations = append(policy.Validations, wire.Validation{Name: name, Status: status})
	}
	return wire.Preview[wire.Finding]{
		Changed: changed, Status: status, Revision: new(int64(5)), Policies: []wire.Policy{policy}, Counts: &wire.Counts{},
	}
}

// The first line of a comment is the verdict in words. It says success only if all that counts is judged.
func TestVerdictOf(t *testing.T) {
	t.Parallel()
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprintf("v%02d missing", i)
	}
	withheld := previewOf(true, "success", "a success")
	withheld.Withheld = "some are not checked"
	withheldFailure := previewOf(true, "failure", "a failure")
	withheldFailure.Withheld = "some are not checked"
	broken := previewOf(true, "failure", "a success")
	none := previewOf(false, "success")
	none.Revision = nil
	without := wire.Preview[wire.Finding]{Changed: true, Status: "success", Revision: new(int64(1))}
	for _, c := range []struct {
		preview wire.Preview[wire.Finding]
		want    string
	}{
		{previewOf(true, "success", "a success"), "**Success**: revision 5 would pass all validations that count"},
		{without, "**Success**: revision 1 would pass all validations that count"},
		{previewOf(false, "success", "a success"), "**Success**: nothing would change; revision 5 passes all validations that count"},
		{none, "**Success**: nothing would change; the site passes all validations that count"},
		{withheld, "**Undecided**: revision 5 has no known failure, but encrypted documents are not checked here"},
		{withheldFailure, "**Failure**: revision 5 would fail `a`"},
		{previewOf(true, "failure", "a success", "b missing", "c expired"), "**Pending**: revision 5 would wait for the results of `b` and `c`"},
		{previewOf(false, "failed", "b missing"), "**Pending**: nothing would change; revision 5 waits for the results of `b`"},
		{previewOf(true, "failure", "a failure", "b missing"), "**Failure**: revision 5 would fail `a`, and would wait for the results of `b`"},
		{previewOf(true, "failure", "deckhand-x missing"), "**Failure**: revision 5 would fail `deckhand-x`"},
		{broken, "**Failure**: revision 5 would fail `p`"},
		{previewOf(true, "failure", many...), "**Pending**: revision 5 would wait for the results of `v00`, `v01`, `v02`, `v03`, `v04`, `v05`, `v06`, `v07`, `v08`, `v09` and 2 more"},
		{previewOf(true, "success", "a unheard`of"), "**Failure**: revision 5 would fail `a`"},
		{previewOf(true, "success", "a missing"), "**Undecided**: revision 5 has the status `success`, and would wait for the results of `a`"},
		{previewOf(true, "odd", "a success"), "**Failure**: revision 5 would fail `p`"},
		{wire.Preview[wire.Finding]{Changed: true, Status: "odd\n@x", Revision: new(int64(5))}, "**Undecided**: revision 5 has the status `odd @x`"},
	} {
		if got := verdictOf(report{preview: c.preview}); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// reportOf returns the report of a change in which one value fails a document that did not fail before.
func reportOf() report {
	name := func(schema, name string) wire.Identity {
		return wire.Identity{Schema: schema, Layer: "site", Name: name, Bucket: "site"}
	}
	a, b, missing := name("acme/X/v1", "a"), name("acme/X/v1", "b"), "No result has been posted"
	preview := previewOf(true, "failure", "schema failure", "drydock missing")
	preview.Changes = wire.Changes{Added: 1, Modified: 1, Deleted: 1, Unchanged: 7}
	preview.Counts.Total = 5
	preview.Weakened = []string{"No ValidationPolicy requires v any more"}
	preview.BeginToFail = &wire.Failing{Count: 3, Documents: []wire.Identity{a, name("acme/X/v1", "c")}}
	preview.Findings = []wire.Finding{
		{Level: "error", Validation: "schema", Document: &b, Message: "is gone"},
		{Level: "error", Validation: "schema", Document: &a, Path: ".size", Message: "101 is greater", Advice: "use less"},
		{Level: "warning", Validation: "schema", Document: &a, Message: "odd"},
		{Level: "error", Validation: "drydock", Rule: "missing", Message: missing},
	}
	differences := []wire.Difference{
		{Change: "created", Bucket: "site", Schema: a.Schema, Layer: a.Layer, Name: "new"},
		{Change: "modified", Bucket: "site", Schema: a.Schema, Layer: a.Layer, Name: "a"},
		{Change: "deleted", Bucket: "old", Schema: a.Schema, Layer: a.Layer, Name: "gone"},
	}
	preview.Documents, preview.Buckets = differences, map[string]string{"site": "modified", "old": "deleted"}
	preview.Rendered = &wire.Rendered{Count: 5, Unlisted: 1, Differences: []wire.RenderedDifference{
		{Diff: new("@@ -1 +1 @@\n-size: 1\n+size: 101\n"), Documents: differences[1:3]},
		{Encrypted: true, Diff: new(""), Documents: differences[1:2]},
		{Omitted: true, Documents: differences[:1]},
	}}
	return report{
		preview: preview, places: []check.Place{{}, {File: "s i/a.yaml", Line: 3, Column: 9}, {File: "s i/a.yaml", Line: 1}, {}},
		differences: map[wire.Identity]string{a: "--- stored\n+++ s i/a.yaml\n@@ -1 +1 @@\n-size: 1\n+size: 101\n"},
		files:       []string{"s i"},
		at:          repository{blob: "https://git.example/o/r/blob/abc1234/"},
	}
}

// Run with -record to update the golden files.
func TestCommentOf(t *testing.T) {
	t.Parallel()
	unrendered := report{preview: previewOf(false, "success", "schema success"), names: 1}
	unrendered.preview.Rendered = &wire.Rendered{Unrendered: []wire.UnrenderedSide{{Side: "after", Message: "no parent"}}}
	for name, r := range map[string]report{
		"change": reportOf(), "unrendered": unrendered, "refused": {refused: "site/a.yaml:3: line 3 is no YAML\n@all: correct it"},
	} {
		isGolden(t, "comment-"+name+".md", commentOf(r, false).Text(maxComment))
	}
	for _, format := range []string{"github", "gitlab"} {
		for name, r := range map[string]report{"": reportOf(), "-refused": {refused: "a\n::error::", files: []string{"site"}}} {
			got, err := annotations(format, r)
			if err != nil {
				t.Fatal(err)
			}
			isGolden(t, "annotations"+name+"."+format, got)
		}
	}
}

// isGolden compares a text with a file of testdata.
func isGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *record {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// A comment of a change of any size has at most the permitted characters, and the whole one has all.
func TestCommentOf_bound(t *testing.T) {
	t.Parallel()
	r := reportOf()
	for i := range 3_000 {
		id := wire.Identity{Schema: "acme/X/v1", Layer: "site", Name: fmt.Sprintf("`😀`%d", i), Bucket: "site"}
		r.preview.Findings = append(r.preview.Findings, wire.Finding{Level: "error", Document: &id, Message: strings.Repeat("`\n", 700) + "|"})
		r.preview.Weakened = append(r.preview.Weakened, strings.Repeat("w", 2_000))
		r.preview.Documents = append(r.preview.Documents, wire.Difference{Change: "modified", Schema: id.Schema, Layer: id.Layer, Name: id.Name, Bucket: "site"})
		r.preview.Policies = append(r.preview.Policies, wire.Policy{Name: id.Name + strings.Repeat("p", 1_000), Status: "failure"})
		r.differences[id] = strings.Repeat("+😀\n", 20)
	}
	r.preview.Rendered.Differences[0].Documents = r.preview.Documents
	whole := commentOf(r, true).Text(0)
	for _, part := range []string{"`😀`2999``", strings.Repeat("w", 2_000), strings.Repeat("` ", 700) + "|"} {
		if !strings.Contains(whole, part) {
			t.Errorf("the whole comment lacks %.60q", part)
		}
	}
	page := commentOf(r, false)
	page.All = "`full.md` has all of it"
	cut := page.Text(maxComment)
	if n := utf8.RuneCountInString(cut); n > maxComment || n < maxComment/2 {
		t.Errorf("%d characters", n)
	}
	if n := strings.Count(cut, "left out here: `full.md` has all of it"); n != 5 {
		t.Errorf("%d of 5 sections say what they leave out", n)
	}
}
