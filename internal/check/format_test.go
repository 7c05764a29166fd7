package check

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5" //nolint:depguard // as other tools validate it

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/words"
)

var record = flag.Bool("record", false, "write the golden files")

// reportOf checks the files of testdata/site.
func reportOf(t *testing.T, names ...string) Report {
	t.Helper()
	t.Chdir("testdata/site")
	files, _, err := new(Reader).Read(names, false)
	if err != nil {
		t.Fatal(err)
	}
	report, err := New(Options{}).Check(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func writtenAs(t *testing.T, name string, report Report, options FormatOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, name, report, options); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// One site is written in all formats. Run with -record to update the golden files.
func TestWrite_golden(t *testing.T) { //nolint:paralleltest // it changes the working directory
	report := reportOf(t, ".")
	for _, name := range append(Formats(), "colored") {
		options, as := FormatOptions{Version: "1.2.3"}, name
		if name == "colored" {
			options.Color, as = true, "text"
		}
		got := writtenAs(t, as, report, options)
		golden := filepath.Join("..", "report."+name)
		if *record {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if strings.Contains(got, "1234567") {
			t.Errorf("%s shows a secret", name)
		}
	}
}

// All formats can write a report without findings.
func TestWrite_nothing(t *testing.T) { //nolint:paralleltest // it changes the working directory
	report := reportOf(t)
	for name, want := range map[string]string{
		"text": "0 documents, 0 errors, 0 warnings\n", "github": "0 documents, 0 errors, 0 warnings\n", "gitlab": "[]\n",
	} {
		if got := writtenAs(t, name, report, FormatOptions{}); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// The JSON and YAML formats have the same content.
func TestWrite_yaml(t *testing.T) { //nolint:paralleltest // it changes the working directory
	report := reportOf(t, ".")
	var texts [][]byte
	for name, media := range map[string]document.Media{"json": document.JSON, "yaml": document.YAML} {
		body := []byte(writtenAs(t, name, report, FormatOptions{}))
		value, err := document.ParseOne(t.Context(), body, media, document.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, document.Canonical(value))
	}
	if diff := cmp.Diff(string(texts[0]), string(texts[1])); diff != "" {
		t.Error(diff)
	}
}

// Text in a document cannot send control sequences to a terminal or workflow commands to GitHub.
func TestWrite_hostile(t *testing.T) {
	t.Parallel()
	report := Report{Whole: true, Findings: []Finding{{
		Place: Place{File: "a\x1b[2J,b:c.yaml", Line: 1, Column: 3}, Rule: "schema",
		Message: "\x1b]0;title\a\n::error::and more \u009b31m", Source: "x: \x1b[31m",
	}}}
	report.Findings[0].Document.Name = "\u202e\u2066\u200f\u0085\u2028"
	for _, name := range Formats() {
		got := writtenAs(t, name, report, FormatOptions{})
		if got != words.Printable(got) {
			t.Errorf("%s is not printable: %q", name, got)
		}
		if strings.Contains(got, "\n::error::") {
			t.Errorf("%s has a command of a document: %q", name, got)
		}
	}
}

// SARIF output is valid by the schema, a copy of which is in a module that the linter needs.
func TestWrite_sarif(t *testing.T) { //nolint:paralleltest // it changes the working directory
	list := exec.CommandContext(t.Context(), "go", "list", "-modfile=tools/lint/go.mod", "-m", "-f", "{{.Dir}}",
		"github.com/securego/gosec/v2")
	list.Dir = "../.." // the root of the repository
	dir, err := list.Output()
	name := filepath.Join(strings.TrimSpace(string(dir)), "report/sarif/testdata/sarif-schema-2.1.0.json")
	text, err2 := os.ReadFile(name)
	if err != nil || err2 != nil {
		t.Skip("the schema is not at hand: make lint fetches it")
	}
	schema, err := jsonschema.CompileString("sarif.json", string(text))
	if err != nil {
		t.Fatal(err)
	}
	validate := func(log string) error {
		var value any
		if err := json.Unmarshal([]byte(log), &value); err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}
	report := reportOf(t, ".")
	log := writtenAs(t, "sarif", report, FormatOptions{Version: "1.2.3"})
	if err := validate(log); err != nil {
		t.Errorf("%#v", err)
	}
	if validate(strings.ReplaceAll(log, `"startLine": `, `"startLine": -`)) == nil {
		t.Error("the schema allows anything")
	}
}

// JUnit output has only the elements and attributes that junit-10.xsd of Jenkins' xUnit plugin allows, and all that it
// requires.
func TestWrite_junit(t *testing.T) { //nolint:paralleltest // it changes the working directory
	type element struct{ children, required, attributes []string }
	counts := []string{"tests", "failures", "errors"}
	allowed := map[string]element{
		"testsuites": {[]string{"testsuite"}, nil, append([]string{"name", "time"}, counts...)},
		"testsuite": {
			[]string{"testsuite", "properties", "testcase", "system-out", "system-err"},
			append([]string{"name"}, counts...),
			[]string{"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
		},
		"testcase": {
			[]string{"skipped", "error", "failure", "system-out", "system-err"},
			[]string{"name"},
			[]string{"time", "classname", "group"},
		},
		"failure":    {nil, nil, []string{"type", "message"}},
		"system-out": {},
	}
	decoder := xml.NewDecoder(strings.NewReader(writtenAs(t, "junit", reportOf(t, "."), FormatOptions{})))
	open := []string{}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			if len(open) > 0 && !slices.Contains(allowed[open[len(open)-1]].children, name) {
				t.Errorf("<%s> in <%s>", name, open[len(open)-1])
			}
			open = append(open, name)
			var has []string
			for _, attribute := range token.Attr {
				has = append(has, attribute.Name.Local)
				if !slices.Contains(slices.Concat(allowed[name].required, allowed[name].attributes), attribute.Name.Local) {
					t.Errorf("<%s> has %s", name, attribute.Name.Local)
				}
			}
			for _, required := range allowed[name].required {
				if !slices.Contains(has, required) {
					t.Errorf("<%s> lacks %s", name, required)
				}
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

// A report of very many findings shows the first ones and counts all; it was made of all of them.
func TestWrite_many(t *testing.T) {
	t.Parallel()
	var report Report
	for i := range 2*maxFindings + 1 {
		report.Findings = append(report.Findings, Finding{Rule: ruleSyntax, Message: "wrong", Place: Place{Line: i + 1}})
	}
	report.Findings = append(report.Findings, Finding{Level: queries.LevelWarning, Rule: ruleNoSchema, Message: "odd"})
	text := writtenAs(t, "text", report, FormatOptions{})
	const want = "0 documents, 20001 errors, 1 warning, of which the first 10000 findings are shown\n"
	if !strings.HasSuffix(text, want) || strings.Count(text, "wrong") != maxFindings {
		t.Errorf("%d errors are shown, and it ends with %q, want %q", strings.Count(text, "wrong"), text[max(0, len(text)-200):], want)
	}
	if chosen := report.Choose([]string{ruleNoSchema}, nil); len(chosen.Findings) != 1 || !chosen.Fails(queries.LevelWarning) {
		t.Errorf("of a rule, it has %d findings, want that behind all others", len(chosen.Findings))
	}
	if listed := report.Baseline(); len(listed.Findings) != len(report.Findings) {
		t.Errorf("the baseline has %d findings", len(listed.Findings))
	}
}

// A report names documents without a layer without the None of the server's messages; a baseline has the messages.
func TestWrite_withoutNone(t *testing.T) {
	t.Parallel()
	const name = "[acme/Host/v1, None] h"
	f := Finding{Rule: ruleSyntax, Message: "of " + name, Chain: []Step{{Message: "from " + name}}}
	for _, form := range Formats() {
		if text := writtenAs(t, form, Report{Findings: []Finding{f}}, FormatOptions{}); strings.Contains(text, "None") {
			t.Errorf("%s: %s", form, text)
		}
	}
	if known := (Report{Findings: []Finding{f}}).Baseline().Findings[0]; known.Message != f.Message {
		t.Errorf("the baseline has %q", known.Message)
	}
}
