package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"purser/internal/queries"
	"purser/internal/validations"
	"purser/internal/words"
)

// view is the content of a report in JSON and YAML.
type view struct {
	Documents int          `json:"documents"`
	Files     int          `json:"files"`
	Errors    int          `json:"errors"`
	Warnings  int          `json:"warnings"`
	Known     int          `json:"known"` // findings in the baseline
	More      int          `json:"more"`  // findings that are not listed
	Whole     bool         `json:"whole"` // the revision as a whole was judged
	Skipped   []string     `json:"skipped"`
	Needed    []neededView `json:"needed"`

	NotApplicable []neededView `json:"notApplicable,omitempty"`

	Findings []findingView `json:"findings"`
}

type neededView struct {
	Validation string `json:"validation"`
	Policy     string `json:"policy"`
	Approvals  int    `json:"approvals,omitempty"`
	Advisory   bool   `json:"advisory,omitempty"`
}

type findingView struct {
	Level string `json:"level"`
	Rule  string `json:"rule"`
	Place

	Document *documentView `json:"document,omitempty"`
	Path     string        `json:"path,omitempty"`
	Broken   string        `json:"broken,omitempty"`
	Message  string        `json:"message"`
	Advice   string        `json:"advice,omitempty"`

	Causes []validations.Cause `json:"causes,omitempty"`
	Chain  []Step              `json:"chain,omitempty"`
}

type documentView struct {
	Schema string `json:"schema"`
	Layer  string `json:"layer,omitempty"`
	Name   string `json:"name"`
	Bucket string `json:"bucket,omitempty"`
}

func neededViewOf(needed Needed) neededView {
	return neededView{needed.Name, needed.Policy.Name, needed.Approvals, needed.Advisory}
}

func viewOf(report Report) view {
	v := view{
		Documents: report.Documents, Files: len(report.Files), Known: report.Known, More: report.More, Whole: report.Whole,
		Errors: report.Count(queries.LevelError), Warnings: report.Count(queries.LevelWarning),
		Skipped: append([]string{}, report.Skipped...), Needed: []neededView{}, Findings: []findingView{},
	}
	for _, needed := range report.Needed {
		v.Needed = append(v.Needed, neededViewOf(needed))
	}
	for _, not := range report.Inapplicable {
		v.NotApplicable = append(v.NotApplicable, neededViewOf(not))
	}
	for _, f := range report.Findings {
		shown := findingView{
			Level: f.Level.String(), Rule: f.Rule, Place: f.Place, Path: f.Path, Broken: f.Broken, Message: f.Message,
			Advice: f.Advice, Causes: f.Causes, Chain: f.Chain,
		}
		if f.Document.Schema+f.Document.Name != "" {
			shown.Document = &documentView{f.Document.Schema, f.Document.Layer, f.Document.Name, f.Bucket}
		}
		v.Findings = append(v.Findings, shown)
	}
	return v
}

// toJSON returns a value of this package as indented JSON text.
func toJSON(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		panic(fmt.Sprintf("check: %v", err)) // these types always marshal
	}
	return []byte(words.PrintableJSON(strings.TrimRight(b.String(), "\n")))
}

// compact returns JSON text without white space.
func compact(text []byte) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		panic(fmt.Sprintf("check: %v", err)) // it was just written
	}
	return b.Bytes()
}
