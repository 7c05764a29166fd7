package main

import (
	"encoding/json"
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
	got := verdictAnswer([]byte("{}"), wire.Verdict{
		Revision: 3, Status: "failure", Notice: "no policy", Warnings: []string{"old"},
		Policies: []wire.Policy{
			{Name: "p", Status: "failure", Validations: []wire.Validation{broken}},
			{Name: "q", Status: "failure"},
		},
		Validations: []wire.Validation{broken}, Ignored: []wire.Validation{{Name: "i", Status: "success"}},
	}, wire.Findings{})
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

// Below a verdict are the findings about documents, or their causes if the list is too long. Messages are not repeated.
func TestVerdict_findings(t *testing.T) {
	t.Parallel()
	f := wire.Finding{Level: "error", Document: &wire.Identity{Schema: "a/X/v1", Name: "x", Bucket: "b"}, Path: ".p", Message: "odd"}
	verdict := wire.Verdict{Revision: 3, Status: "failure", Validations: []wire.Validation{{Name: "v", Status: "failure", Message: "odd"}}}
	const first, last = "revision 3: failure\n" + "  failure  v\n", "All that is wrong: purser findings 3\n"
	for name, c := range map[string]struct {
		found wire.Findings
		want  string
	}{
		"none known": {wire.Findings{}, "v: odd\n"},
		"all":        {wire.Findings{Findings: []wire.Finding{f}, Counts: wire.Counts{Total: 1}}, "[a/X/v1] x .p: odd (bucket b)\n"},
		"causes": {wire.Findings{Findings: []wire.Finding{f}, Counts: wire.Counts{Total: 9, Causes: []wire.Cause{
			{Findings: 6, Documents: 5, First: f}, {Findings: 1, First: wire.Finding{Message: "missing"}},
		}}}, "[a/X/v1] x .p: odd (bucket b), and 5 more like it, in 5 documents\nand 2 more\n"},
		"an older server": {wire.Findings{Findings: []wire.Finding{f}, Counts: wire.Counts{Total: 9, More: true}}, "[a/X/v1] x .p: odd (bucket b)\nand at least 8 more\n"},
	} {
		if diff := cmp.Diff(first+c.want+last, verdictAnswer(nil, verdict, c.found).text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A finding has its place in the files, or else the bucket of its document.
func TestPushed_findings(t *testing.T) {
	t.Parallel()
	host := &wire.Identity{Schema: "acme/Host/v1", Layer: "site", Name: "h", Bucket: "si\nte"}
	f := wire.Finding{Level: "error", Document: host, Path: ".data.rack", Message: "too large", Advice: "smaller"}
	found := wire.Findings{Findings: []wire.Finding{f, f, {Level: "error", Validation: "v", Message: "no"}}, Counts: wire.Counts{Total: 3}}
	got := pushedAnswer(client.Written{Revision: "7", Status: "failure; findings=2"}, found, []string{"f.yaml:3", "", ""}).text
	const line = "[acme/Host/v1, site] h .data.rack: too large (smaller)"
	if want := "f.yaml:3: " + line + "\n" + line + " (bucket si te)\nv: no\n"; !strings.Contains(got, want) {
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
