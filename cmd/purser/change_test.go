package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/client"
	"purser/internal/wire"
)

func TestStatusLine(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"success; findings=0":  "Status: success",
		"failure; findings=12": "Status: failure; findings: 12",
		"failure; findings=9+": "Status: failure; findings: at least 9",
		"failure":              "Status: failure",
	} {
		if got := statusLine(header, false); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}

func TestPruned(t *testing.T) {
	t.Parallel()
	for kept, want := range map[int]string{0: "0 revisions remain\n", 1: "1 revision remains\n", 2: "2 revisions remain\n"} {
		if got := prunedAnswer(nil, wire.Pruned{Kept: kept}).text; !strings.HasSuffix(got, "; "+want) {
			t.Errorf("%q, want %q at its end", got, want)
		}
	}
}

// What a change does to policies is said by its previews, before its confirmation, and after it is made.
func TestWeakened(t *testing.T) {
	t.Parallel()
	preview := wire.Preview[wire.Finding]{
		Counts: &wire.Counts{}, Changed: true, Status: "success", Notice: "none is in force",
		Weakened: []string{"it is\ngone"},
	}
	made := client.Written{Revision: "7", Status: "success; findings=0", Warnings: []string{"it is\ngone", "none is in force"}}
	lost, _ := losses(preview)
	for name, got := range map[string]string{
		"preview": pushPreview(client.Written{}, preview, nil, nil, false).text, "rollback": rollbackPreview("1", client.Written{}, preview, false).text,
		"losses": lost, "pushed": pushedAnswer(made, wire.Findings{}, nil, "", false).text, "rolled back": rolledBackAnswer(made, false).text,
	} {
		if want := "warning: it is gone\nwarning: none is in force\n"; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", name, got, want)
		}
	}
}

// What a change loses is in its question.
func TestLosses(t *testing.T) {
	t.Parallel()
	deleted := func(schema string) wire.Difference {
		return wire.Difference{Change: "deleted", Schema: schema}
	}
	host, policy := deleted("acme/Host/v1"), deleted("deckhand/ValidationPolicy/v1")
	weaker := []string{"No ValidationPolicy requires v any more"}
	for want, preview := range map[string]wire.Preview[wire.Finding]{
		"":                   {},
		"delete 2 documents": {Documents: []wire.Difference{host, host}},
		"delete 1 document, a ValidationPolicy among them": {Documents: []wire.Difference{policy}, Weakened: weaker},
		"delete 1 document and weaken ValidationPolicies":  {Documents: []wire.Difference{host}, Weakened: weaker},
		"weaken ValidationPolicies":                        {Weakened: weaker},
	} {
		preview.Changes.Deleted = len(preview.Documents)
		if _, got := losses(preview); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A preview of a push has the differences below each document, and findings with their places.
func TestPreview(t *testing.T) {
	t.Parallel()
	changed := wire.Identity{Schema: "acme/X/v1", Layer: "site", Name: "x\x1b\n", Bucket: "b"}
	preview := wire.Preview[wire.Finding]{
		Changed: true, Status: "failure", Changes: wire.Changes{Modified: 1}, Counts: &wire.Counts{Total: 3},
		Documents: []wire.Difference{{Schema: changed.Schema, Layer: "site", Name: changed.Name, Bucket: "b", Change: "modified", From: "a"}},
		Findings: []wire.Finding{
			{Level: "error", Validation: "v", Message: "no"},
			{Level: "warning", Document: &changed, Path: ".p", Message: "odd", Advice: "mend it"},
		},
		Validations: []wire.Validation{{Name: "own", Status: "missing"}},
	}
	got := pushPreview(client.Written{Revision: "7", Answer: client.Answer{Body: []byte("{}")}}, preview,
		map[wire.Identity]string{changed: "@@ -1 +1 @@\n-a\n+b\n"}, []string{"", "f.yaml:3"}, false)
	want := "changed  [acme/X/v1, site] x⟨U+001B⟩  (bucket b, from bucket a)\n    @@ -1 +1 @@\n    -a\n    +b\n" +
		"Would be revision 7: added=0, modified=1, deleted=0, unchanged=0\n" +
		"error: v: no\nf.yaml:3: warning: [acme/X/v1, site] x⟨U+001B⟩  .p: odd (mend it)\nand 1 more\n" +
		"Status would be: failure, until results are posted\n"
	if diff := cmp.Diff(want, got.text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"changed acme/X/v1/x\x1b\n"}, got.names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	pushed := pushedAnswer(client.Written{Revision: "7", Status: "success; findings=0"}, wire.Findings{
		Findings: []wire.Finding{{Level: "error", Validation: "v", Message: "no", Line: 9}},
	}, []string{"f.yaml:3"}, "", false)
	if json := pushed.in("json"); !strings.Contains(json, `"place":"f.yaml:3"`) || strings.Contains(json, `"line"`) {
		t.Errorf("a push is %s, want it with the place and without the line of the request", json)
	}
}

// A push that changes nothing still says which keys of its files are not kept, and nothing of the revision that exists.
func TestPushed_unchanged(t *testing.T) {
	t.Parallel()
	found := wire.Findings{Counts: wire.Counts{Total: 3}, Findings: []wire.Finding{
		{Level: "warning", Rule: "UnknownKey", Path: ".dta", Message: "The key 'dta' is not kept", Document: &wire.Identity{Schema: "a/B/v1", Name: "n"}},
		{Level: "warning", Rule: "UnknownKey", Message: "elsewhere", Document: &wire.Identity{Schema: "a/B/v1", Name: "m"}},
		{Level: "error", Rule: ".type", Message: "wrong", Document: &wire.Identity{Schema: "a/B/v1", Name: "n"}},
	}}
	const want = "f.yaml:3:1: warning: [a/B/v1] n .dta: The key 'dta' is not kept\nNothing changed; the newest revision is 7.\n"
	if diff := cmp.Diff(want, pushedAnswer(client.Written{Revision: "7"}, found, []string{"f.yaml:3:1", "", "f.yaml:9:1"}, "", false).text); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A push that only changes how documents are written says of how many, and that it made no revision.
func TestPushedAnswer_rewritten(t *testing.T) {
	t.Parallel()
	want := "No revision was made: only comments, formatting or files changed, of 1 document; the new text replaces the old " +
		"one. The newest revision is 5.\n"
	if got := pushedAnswer(client.Written{Revision: "5", Rewritten: "1"}, wire.Findings{}, nil, "", false).text; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
