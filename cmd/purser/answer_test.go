package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/client"
	"purser/internal/wire"
)

// A verdict lists each validation, and each reason once.
func TestVerdict(t *testing.T) {
	t.Parallel()
	broken := wire.Validation{Name: "v", Status: "failure", Message: "is\nodd"}
	got := verdictAnswer(client.Answer{}, wire.Verdict{
		Revision: 3, Status: "failure", Notice: "no policy", Warnings: []string{"old"},
		Policies: []wire.Policy{
			{Name: "p", Status: "failure", Validations: []wire.Validation{broken}},
			{Name: "q", Status: "failure"},
		},
		Validations: []wire.Validation{broken}, Ignored: []wire.Validation{{Name: "i", Status: "success"}},
	}, wire.Findings{}, "", false)
	want := "revision 3: failure\n" +
		"  failure  v  policy p\n" +
		"  failure  q  the document is not a valid ValidationPolicy\n" +
		"  failure  v\n" +
		"  success  i  ignored\n" +
		"no policy\nv: is odd\nwarning: old\nAll that is wrong: purser findings 3\n"
	if diff := cmp.Diff(want, got.text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// Below a verdict are its findings, each with the command that helps, or their causes if the list is too long. Reasons
// are not repeated, and the last line is the URL of the page.
func TestVerdict_findings(t *testing.T) {
	t.Parallel()
	f := wire.Finding{Level: "error", Validation: "v", Document: &wire.Identity{Schema: "a/X/v1", Name: "x y", Bucket: "b"}, Path: ".p", Message: "odd, says [a/Z/v1, None] z"}
	missing := wire.Finding{Level: "error", Validation: "m-validation", Rule: "missing", Message: "no result"}
	own := wire.Finding{Level: "error", Validation: "deckhand-x-validation", Rule: "missing", Message: "not made"}
	verdict := wire.Verdict{Revision: 3, Status: "failure", Validations: []wire.Validation{{Name: "v", Status: "failure", Message: "odd"}}}
	by := []wire.Number{{Name: "v", Level: "error", Findings: 1}}
	const first, last = "revision 3: failure\n" + "  failure  v\n", "All that is wrong: purser findings 3\nPage: http://h/ui/revisions/3\n"
	const line, show = "error: [a/X/v1] x y .p: odd, says [a/Z/v1] z (bucket b)", "    purser show 3 --schema a/X/v1 --name 'x y'\n"
	for name, c := range map[string]struct {
		found wire.Findings
		want  string
	}{
		"none known": {wire.Findings{}, "v: odd\n"},
		"all": {
			wire.Findings{Findings: []wire.Finding{f, missing, own}, Counts: wire.Counts{Total: 3, ByValidation: by}},
			line + "\n" + show + "missing: m-validation: no result\n    purser results post m-validation 3 --status success\n" +
				"missing: deckhand-x-validation: not made\n",
		},
		"causes": {wire.Findings{Findings: []wire.Finding{f}, Counts: wire.Counts{Total: 9, ByValidation: by, Causes: []wire.Cause{
			{Findings: 6, Documents: 5, First: f}, {Findings: 1, First: missing},
		}}}, line + ", and 5 more like it, in 5 documents\n" + show +
			"missing: m-validation: no result\n    purser results post m-validation 3 --status success\nand 2 more\n"},
		"an older server": {
			wire.Findings{Findings: []wire.Finding{f}, Counts: wire.Counts{Total: 9, More: true, ByValidation: by}},
			line + "\n" + show + "and at least 8 more\n",
		},
	} {
		said := client.Answer{Header: http.Header{"Link": {`<http://h/ui/revisions/3>; rel="alternate"; type="text/html"`}}}
		if diff := cmp.Diff(first+c.want+last, verdictAnswer(said, verdict, c.found, "", false).text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Statuses, levels and places have colours, which leave tables aligned; other texts have none.
func TestColours(t *testing.T) {
	t.Parallel()
	f := wire.Finding{Level: "error", Validation: "v", Message: "no"}
	lacking := wire.Finding{Level: "error", Validation: "w", Rule: "expired", Message: "old"}
	for want, got := range map[string]string{
		"\x1b[1mf.yaml:3:\x1b[m \x1b[31merror:\x1b[m v: no":          findingLine(f, "f.yaml:3", true),
		"\x1b[33mexpired:\x1b[m w: old":                              findingLine(lacking, "", true),
		"\x1b[33mwarning:\x1b[m a b\n":                               warningLines(true, "", "a\nb"),
		"Status: \x1b[31mfailure\x1b[m; findings: at least 2":        statusLine("failure; findings=2+", true),
		"Status would be: \x1b[32msuccess\x1b[m":                     verdictLine(wire.Preview[wire.Finding]{Changed: true, Status: "success"}, true),
		"A  \x1b[39mSTATUS\x1b[m   B\n1  \x1b[32msuccess\x1b[m  c\n": paintedTable([][]string{{"A", "STATUS", "B"}, {"1", "success", "c"}}, 1, true),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A finding has its place in the files, or else the bucket of its document.
func TestPushed_findings(t *testing.T) {
	t.Parallel()
	host := &wire.Identity{Schema: "acme/Host/v1", Layer: "site", Name: "h", Bucket: "si\nte"}
	f := wire.Finding{Level: "error", Document: host, Path: ".data.rack", Message: "too large", Advice: "smaller"}
	found := wire.Findings{Findings: []wire.Finding{f, f, {Level: "error", Validation: "v", Message: "no"}}, Counts: wire.Counts{Total: 3}}
	got := pushedAnswer(client.Written{Revision: "7", Status: "failure; findings=2"}, found, []string{"f.yaml:3", "", ""}, "", false).text
	const line = "error: [acme/Host/v1, site] h .data.rack: too large (smaller)"
	if want := "f.yaml:3: " + line + "\n" + line + " (bucket si te)\nerror: v: no\n"; !strings.Contains(got, want) {
		t.Errorf("got %s, want in it\n%s", got, want)
	}
}

func TestGraph(t *testing.T) {
	t.Parallel()
	var graph wire.Graph
	err := json.Unmarshal([]byte(`{"nodes": [{"id": 1, "schema": "a/X/v1", "layer": "site", "name": "x"},
		{"id": 2, "schema": "a/X/v1", "name": "y", "abstract": true}, {"id": 3, "schema": "a/Z/v1", "missing": "document"}],
		"edges": [{"from": 1, "to": 3, "kind": "substitution"}, {"from": 1, "to": 2, "kind": "parent", "cyclic": true}],
		"problems": [{"message": "a cycle"}]}`), &graph)
	want := "[a/X/v1, site] x\n" +
		"  parent       [a/X/v1] y  (abstract)  (cycle)\n" +
		"  substitution [a/Z/v1] -  (document missing)\n" +
		"[a/X/v1] y  (abstract)\nproblem: a cycle\n"
	if diff := cmp.Diff(want, graphText(graph)); diff != "" || err != nil {
		t.Errorf("text (-want +got):\n%s\nerror %v", diff, err)
	}
}

func TestPuppet(t *testing.T) {
	t.Parallel()
	var report wire.Report
	var found wire.OverrideDifferences
	err := json.Unmarshal([]byte(`{"changes": [{"resource": "File[/x]", "by": {"schema": "a/X/v1", "name": "x"}, "action": "updated",
		"parameters": [{"name": "mode", "value": "0644"}, {"name": "secret"}]}],
		"skipped": [{"resource": "File[/y]", "by": {"schema": "a/X/v1", "name": "y"}, "reason": "no such resource"}]}`), &report)
	want := "updated  File[/x]  [a/X/v1] x  mode=\"0644\", secret\nskipped  File[/y]  [a/X/v1] y  no such resource\n"
	if diff := cmp.Diff(want, puppetReport(nil, report).text); diff != "" || err != nil {
		t.Errorf("report (-want +got):\n%s\nerror %v", diff, err)
	}
	err = json.Unmarshal([]byte(`{"resources": [{"resource": "File[/x]", "change": "modified",
		"parameters": [{"name": "mode", "from": "0644"}, {"name": "secret", "sensitive": true}]}],
		"options": [{"name": "o", "from": 1, "to": 2}]}`), &found)
	want = "modified File[/x]\n  mode: \"0644\" -> -\n  secret: (sensitive)\noption   o: 1 -> 2\n"
	if diff := cmp.Diff(want, puppetDifferences(nil, found).text); diff != "" || err != nil {
		t.Errorf("differences (-want +got):\n%s\nerror %v", diff, err)
	}
}

// A status never says success alone of a revision with waivers, and where results come from.
func TestVerdictAnswer_requirements(t *testing.T) {
	t.Parallel()
	until := wire.Optional("2026-12-03T10:00:00.000000")
	verdict := wire.Verdict{
		Revision: 17, Status: "success", Waived: []wire.Waived{{Validation: "a-validation"}},
		Warnings: []string{"b-validation: missing (policy ready, advisory)"},
		Policies: []wire.Policy{{Name: "ready", Status: "success", Validations: []wire.Validation{
			{Name: "a-validation", Status: "failure", Message: "no\nhost", Waived: &wire.Waived{By: "anna", Reason: "new\nhost", Until: until}},
			{Name: "b-validation", Status: "missing", Advisory: true, Claim: &wire.Claimed{Worker: "w-7", Since: until, Attempt: 2}},
			{Name: "c-validation", Status: "not-applicable", Message: "no document matches when"},
			{Name: "d-validation", Status: "success", Newest: &wire.Newest{
				Status: "success", CreatedAt: until, CarriedFrom: 12, Inputs: []byte(`{"layers":["site"]}`),
			}},
		}}},
	}
	got := verdictAnswer(client.Answer{}, verdict, wire.Findings{}, "", false)
	want := `revision 17: success; waived: 1
  failure         a-validation  policy ready, waived by anna until 2026-12-03 10:00:00Z: new host
  missing         b-validation  policy ready, advisory, claimed by w-7 since 2026-12-03 10:00:00Z, attempt 2
  not-applicable  c-validation  policy ready, no document matches when
  success         d-validation  policy ready, carried over from revision 12, of 2026-12-03 10:00:00Z, inputs {"layers":["site"]}
a-validation: no host
warning: b-validation: missing (policy ready, advisory)
`
	if diff := cmp.Diff(want, got.text); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"success"}, got.names); diff != "" {
		t.Errorf("the word for scripts (-want +got)\n%s", diff)
	}
	if open := openOf(verdict); open != nil {
		t.Errorf("it waits for %v", open)
	}
}
