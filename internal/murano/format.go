package murano

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"purser/internal/document/blockyaml"
	"purser/internal/words"
)

// Write writes results in a format: text, json, yaml, sarif or junit. codes are those of the validators.
func Write(w io.Writer, format string, results []PathReport, codes []Code) error {
	var out []byte
	var err error
	switch format {
	case "json":
		out, err = indented(issuesOf(results))
	case "yaml":
		out, err = asYAML(issuesOf(results))
	case "sarif":
		out, err = indented(asSARIF(results, codes))
	case "junit":
		out, err = asJUnit(results)
	default:
		out = asText(results)
	}
	if err == nil {
		_, err = io.WriteString(w, words.Printable(string(out)))
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func indented(value any) ([]byte, error) {
	out, err := json.MarshalIndent(value, "", "  ")
	return []byte(words.PrintableJSON(string(out)) + "\n"), err
}

func asYAML(value any) ([]byte, error) {
	out, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("as YAML: %w", err)
	}
	return blockyaml.Append(nil, out), nil
}

// printedIssue is an issue in the format for programs. Lines and columns count from 0, columns in characters.
type printedIssue struct {
	Package  string   `json:"package"`
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Filename *string  `json:"filename"`
	Line     *int     `json:"line"`
	Column   *int     `json:"column"`
	Source   *string  `json:"source"`
}

// issuesOf returns the issues of results.
func issuesOf(results []PathReport) []printedIssue {
	items := []printedIssue{}
	for _, result := range results {
		for _, i := range result.Report.Issues {
			found := printedIssue{Package: result.Path, Code: i.Code, Severity: i.Severity, Message: i.Message}
			if i.File != "" {
				found.Filename = &i.File
			}
			if i.Located {
				found.Line, found.Column, found.Source = &i.Line, &i.Column, &i.Source
			}
			items = append(items, found)
		}
	}
	return items
}

// asText writes each issue on a line, followed by the line of the file and a caret.
func asText(results []PathReport) []byte {
	var b strings.Builder
	for _, result := range results {
		if len(result.Report.Issues) == 0 {
			continue
		}
		if len(results) > 1 {
			fmt.Fprintf(&b, "Errors in package %s\n", result.Path)
		}
		for _, i := range result.Report.Issues {
			message := strings.ReplaceAll(i.Message, "\n", `\n`)
			switch {
			case i.Located:
				fmt.Fprintf(&b, "%s:%d:%d: %s %s\n    %s\n    %s^\n", i.File, i.Line+1, i.Column+1, i.Code, message, i.Source,
					blank(i.Source, i.Column))
			case i.File != "":
				fmt.Fprintf(&b, "%s: %s %s\n", i.File, i.Code, message)
			default:
				fmt.Fprintf(&b, "%s %s\n", i.Code, message)
			}
		}
		if len(results) > 1 {
			b.WriteByte('\n')
		}
	}
	if b.Len() == 0 {
		return []byte("No errors found!\n")
	}
	return []byte(b.String())
}

// blank returns the space before a column of a line. It keeps tabs.
func blank(line string, column int) string {
	var b strings.Builder
	for _, r := range line {
		if column--; column < 0 {
			break
		}
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// asJUnit writes a suite for each package and a failure for each issue.
func asJUnit(results []PathReport) ([]byte, error) {
	type failure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *failure `xml:"failure"`
	}
	type suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"` // always 0, but Jenkins' schema requires it
		Cases    []testcase `xml:"testcase"`
	}
	type suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []suite  `xml:"testsuite"`
	}
	var out suites
	for _, result := range results {
		s := suite{Name: result.Path, Failures: len(result.Report.Issues)}
		for _, i := range result.Report.Issues {
			place := i.File
			if i.Located {
				place = fmt.Sprintf("%s:%d:%d", i.File, i.Line+1, i.Column+1)
			}
			s.Cases = append(s.Cases, testcase{i.File, i.Code, &failure{
				i.Code, i.Message, strings.TrimSpace(place + " " + i.Message),
			}})
		}
		if len(s.Cases) == 0 {
			s.Cases = []testcase{{Name: "check"}}
		}
		s.Tests = len(s.Cases)
		out.Suites = append(out.Suites, s)
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

// asSARIF returns results in SARIF 2.1.0.
func asSARIF(results []PathReport, codes []Code) any {
	type object = map[string]any
	rules := []object{}
	for _, code := range codes {
		rules = append(rules, object{
			"id": code.Code, "shortDescription": object{"text": code.Description},
			"defaultConfiguration": object{"level": code.Severity()},
		})
	}
	found := []object{}
	for _, result := range results {
		for _, i := range result.Report.Issues {
			r := object{"ruleId": i.Code, "level": i.Severity, "message": object{"text": i.Message}}
			if i.File != "" {
				uri := url.URL{Path: path.Join(result.Path, i.File)}
				place := object{"artifactLocation": object{"uri": uri.String()}}
				if i.Located {
					place["region"] = object{"startLine": i.Line + 1, "startColumn": i.Column + 1}
				}
				r["locations"] = []object{{"physicalLocation": place}}
			}
			found = append(found, r)
		}
	}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool":       object{"driver": object{"name": "mpl-check", "rules": rules}},
			"columnKind": "unicodeCodePoints", "results": found,
		}},
	}
}

// WriteCodes writes the meaning of codes in a format: text, markdown, json or yaml.
func WriteCodes(w io.Writer, format string, codes []Code) error {
	var out []byte
	var err error
	switch format {
	case "json":
		out, err = indented(codes)
	case "yaml":
		out, err = asYAML(codes)
	case "markdown":
		var b strings.Builder
		b.WriteString("| code | severity | meaning | in murano-pkg-check |\n|---|---|---|---|\n")
		for _, code := range codes {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", code.Code, code.Severity(), code.Description, code.Tool)
		}
		out = []byte(b.String())
	default:
		var b strings.Builder
		for _, code := range codes {
			fmt.Fprintf(&b, "%-10s %s\n", code.Code, code.Description)
		}
		out = []byte(b.String())
	}
	if err == nil {
		_, err = w.Write(out)
	}
	if err != nil {
		return fmt.Errorf("write the codes: %w", err)
	}
	return nil
}
