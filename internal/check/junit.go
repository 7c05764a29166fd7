package check

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"purser/internal/queries"
)

// JUnit's XML as Jenkins and GitLab read it, according to Jenkins' schema junit-10.xsd.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Failure *junitFailure `xml:"failure"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// junit returns a suite for each file, and one for findings that are about no file. An error is a case that fails, a
// warning is a case that passes with output, and a file without findings has one case that passes.
func junit(report Report) []byte {
	all := junitSuites{Name: "purser check"}
	of := map[string][]Finding{}
	for _, f := range report.Findings {
		of[f.File] = append(of[f.File], f)
	}
	files := report.Files
	if len(of[""]) > 0 {
		files = append(slices.Clip(files), "")
	}
	for _, file := range files {
		suite := junitSuiteOf(file, of[file])
		all.Suites = append(all.Suites, suite)
		all.Tests, all.Failures = all.Tests+suite.Tests, all.Failures+suite.Failures
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("format: %v", err)) // these types always marshal
	}
	return append(append([]byte(xml.Header), text...), '\n')
}

func junitSuiteOf(file string, list []Finding) junitSuite {
	name := file
	if name == "" {
		name = "all files"
	}
	suite := junitSuite{Name: name, Tests: max(1, len(list))}
	if len(list) == 0 {
		suite.Cases = []junitCase{{Name: "no findings", Class: name}}
	}
	for _, f := range list {
		text := strings.TrimRight(string(plainText(Report{Findings: []Finding{f}, Whole: true}, false)), "\n")
		text = text[:max(0, strings.LastIndex(text, "\n"))] // without the summary
		c := junitCase{Name: strings.TrimSpace(f.Rule + " " + subject(f)), Class: name}
		if f.Level == queries.LevelError {
			c.Failure = &junitFailure{f.Rule, sentence(f), text}
			suite.Failures++
		} else {
			c.Out = text
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite
}
