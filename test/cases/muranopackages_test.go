package cases_test

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"purser/internal/murano"
)

// verdict is a recorded answer of murano-pkg-check.
type verdict struct {
	RC     int
	Issues []recorded
}

type recorded struct {
	Code, Message, Filename string
	Line, Column            int
}

func (r recorded) String() string {
	return fmt.Sprintf("%s:%d:%d: %s %s", r.Filename, r.Line, r.Column, r.Code, r.Message)
}

// difference is a known difference from the reference: issues that only it reports (gone), or only Purser (gained), as
// patterns of their texts without places. Known faults of the reference have numbers.
type difference struct{ reason, inputs, gone, gained string }

// anyInput matches the names of all inputs.
const anyInput = ""

var differences = []difference{
	{"KD2: in place of a crash the issue that it stumbled upon", anyInput, `^E000 Checker `, ``},
	{"KD2: MPL:E057 says it of an argument, and the others are checked", "^args-null$", ``, `^W048 .*"bad\("$`},
	{"KD2: MPL:E057 says it of a property, and the others are checked", "^prop-null$", ``, `^W048 .*"bad\("$`},
	{"KD2: Usage may be any value", "^prop-usage-list$", ``, `^E042 |^E047 .*"b"$`},
	{"KD2: MAN:E052 says it of the class", "^man-classes-listvalue$", ``, `^W020 File "App.yaml"`},
	{"KD2: a method's name is not a string", "^meth-name-int$", ``, `^E054 .*"5"$`},
	{"KD2: E082, and the rest of the form is checked", "^ui-field-int$|^two-ui-", ``, `^E000 Value of |^E081 .*"7"$`},
	{"KD2: an escape that YAQL cannot decode", "^contract-escape$", ``, `^W048 .*check`},
	{"KD3: !yaql is accepted, so the file is checked", anyInput, `^E002 .*'!yaql'`, ``},
	{
		"KD4: the logo that the manifest names is expected", "^man-logo-custom$|v1.app$|Telnet$|ActiveDirectory$",
		`^W120 Unknown "(my|telnet|logo2|test_logo|test_supplier_logo).png"`, ``,
	},
	{"KD7: Workflow is checked as Methods", anyInput, `^W010 Unknown keyword "Workflow"`, ``},
	{"KD7: its methods too", "SimpleVMcluster$|TomcatCluster$", ``, `^E048 `},
	{"KD8: CamelCase is demanded of the last part of a class name", anyInput, `^W011 Class name "io\.murano\.`, ``},
	{"KD9: a namespace may be empty", anyInput, `^W060 Wrong namespace fqn "null"`, ``},
	{"KD10: accepted keys of the manifest", anyInput, `^W010 Unknown keyword "(Meta|Supplier)"`, ``},
	{"KD10: accepted keys of forms", anyInput, `^W010 Unknown keyword "Parameters(Source)?"|^E021 .*"region"`, ``},
	{"KD11: Do alone", "^body-do$", `^E201 "Do"`, ``},
	{
		"KD11: Throw with a list, without Message, with Extra and Cause", "^body-throw$",
		`^E20[134] .*("Extra"|"Cause"|"Message"|'a.B')`, ``,
	},
	{"KD11: Try without Catch, With a list", "^body-try$", `^E204 .*"Catch" for|^E203 .*'c.D'`, ``},
	{"KD11: Switch without Default", "^body-switch$", `^E204 .*"Default"`, ``},
	{"KD11: a number of repetitions", "^body-repeat$", `^W202 "3"`, ``},
	{"KD11: If with any value", "^body-if-predicates$", `^W202 "1(\.5)?"`, ``},
	{"KD11: assignment to a static property", "^body-assign$", `^E201 "std:A\.b"`, ``},
	{"KD12: Description is optional (MAN:W075)", "^man-no-desc$", `^E020 .*"Description"`, ``},
	{"KD13: a method that is none does not end the scan", "^meth-method-(list|null)$", ``, `^E046 Method |^E054 .*"c-d"`},
	{
		"§2.4: the message names the right version", anyInput, `^E044 Scope is not supported .*1\.3"$`,
		`^E044 Scope is not supported .*1\.4$`,
	},
	{"§3: only members below Classes/ are classes", "^classes2.zip$|^backslash.zip$", `^W020 File "(2/x|X|\\App)\.yaml"`, ``},
	{"§3: PKG:E122 says that the names have backslashes", "^backslash.zip$", `^W120 .*\\|^E050 |^W073 `, ``},
	{"§3: Murano reads 1.4.0 as 1.4", "^man-format-140$", `^W030 `, ``},
	{"§3: PKG:E124 says that a member appears twice; the last one is checked", "^dupclass.zip$", `^W011 .*"app"`, `^W011 .*"app"`},
	{"§5: a name does not end with a line break", "^yml-nl-name$", ``, `^E(011|025|054) .*\n"$`},
	{"§7: ns:Name is accepted", "^cls-name-ns$", `^E011 .*"std:App"`, ``},
}

func TestMurano_Packages(t *testing.T) {
	t.Parallel()
	var index []struct{ Name, Kind, Expected string }
	read(t, "murano/index.json", &index)
	for _, input := range index {
		t.Run(input.Name, func(t *testing.T) {
			t.Parallel()
			var want verdict
			read(t, "murano/expected/"+input.Expected, &want)
			folder := map[string]string{"package": "packages", "mutant": "mutants", "zip": "zips"}[input.Kind]
			path := filepath.Join(*shared, "cases/murano", folder, input.Name)
			pkg, err := murano.Open(t.Context(), path, murano.DefaultLimits())
			if _, ok := errors.AsType[*murano.Unreadable](err); ok && want.RC == 2 {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			report, err := murano.Run(t.Context(), pkg, murano.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want.RC > 1 { // KD1: the reference crashes, or cannot load a readable package
				if len(report.Issues) == 0 && !pkg.Single {
					t.Errorf("the reference fails with %d, but the report has no issues", want.RC)
				}
				return
			}
			compareIssues(t, input.Name, want, report)
		})
	}
}

// compareIssues compares a report with the recorded one, except for the known differences and the checks that the
// reference does not have (KD14).
func compareIssues(t *testing.T, name string, want verdict, report murano.Report) {
	t.Helper()
	tool := map[string]string{}
	for _, code := range murano.CodesOf(murano.Builtin()) {
		tool[code.Code] = code.Tool
	}
	var gone, gained []*regexp.Regexp
	for _, d := range differences {
		if !regexp.MustCompile(d.inputs).MatchString(name) {
			continue
		}
		if d.gone != "" {
			gone = append(gone, regexp.MustCompile("(?s)"+d.gone))
		}
		if d.gained != "" {
			gained = append(gained, regexp.MustCompile("(?s)"+d.gained))
		}
	}
	unlocated := map[string]bool{} // KD5: numbers, booleans and dates have places
	var expected, got []recorded
	for _, issue := range want.Issues {
		text := issue.Code + " " + issue.Message
		if slices.ContainsFunc(gone, func(r *regexp.Regexp) bool { return r.MatchString(text) }) {
			continue
		}
		if issue.Code == "E002" { // the message is the parser's
			issue.Message = ""
		}
		unlocated[issue.Code+issue.Message] = issue.Filename == ""
		expected = append(expected, issue)
	}
	for _, issue := range report.Issues {
		r := recorded{tool[issue.Code], issue.Message, issue.File, issue.Line + 1, issue.Column + 1}
		text := r.Code + " " + r.Message
		if r.Code == "E002" {
			r.Message = ""
		}
		if unlocated[r.Code+r.Message] || !issue.Located {
			r.Filename, r.Line, r.Column = "", 0, 0
		}
		isGained := slices.ContainsFunc(gained, func(r *regexp.Regexp) bool { return r.MatchString(text) })
		if r.Code == "" || isGained && !slices.Contains(expected, r) {
			continue
		}
		got = append(got, r)
	}
	order := func(a, b recorded) int { return cmp.Compare(a.String(), b.String()) }
	slices.SortFunc(expected, order)
	slices.SortFunc(got, order)
	if diff := gocmp.Diff(expected, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
