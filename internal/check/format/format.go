// Package format writes reports of checks in the formats that people and pipelines read. One file has one format.
package format

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"purser/internal/document/blockyaml"
	"purser/internal/findings"

	"purser/internal/words"

	"purser/internal/check"
)

// Names are the names of the formats.
func Names() []string { return []string{"text", "json", "yaml", "sarif", "junit", "github", "gitlab"} }

// Options are what a format depends on besides the report.
type Options struct {
	Color   bool   // of text
	Version string // of the program
}

// Write writes a report in a format, one of Names.
func Write(w io.Writer, name string, report check.Report, options Options) error {
	var text []byte
	switch name {
	case "text":
		text = plainText(report, options.Color)
	case "json":
		text = append(toJSON(viewOf(report)), '\n')
	case "yaml":
		text = blockyaml.Append(nil, compact(toJSON(viewOf(report))))
	case "sarif":
		text = append(toJSON(sarifOf(report, options.Version)), '\n')
	case "junit":
		text = junit(report)
	case "github":
		text = github(report)
	case "gitlab":
		text = append(toJSON(gitlabOf(report)), '\n')
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// subject returns what a finding is about, such as "[acme/Host/v1, site] cmp-1 .data.rack"; "" if that is not known.
func subject(f check.Finding) string {
	if f.Document.Schema+f.Document.Name == "" {
		return f.Path
	}
	return strings.TrimSpace(f.Document.String() + " " + f.Path)
}

// sentence returns a finding's message after what it is about, unless the message says that itself, in one line.
func sentence(f check.Finding) string {
	message := strings.ReplaceAll(f.Message, "\n", " ")
	about := subject(f)
	if about == "" || f.Path == "" && strings.Contains(message, f.Document.Name) {
		return message
	}
	return about + ": " + message
}

// uri returns the name of a file as a reference.
func uri(file string) string {
	if file == "-" {
		return "stdin"
	}
	u := url.URL{Path: file}
	return u.String()
}

// summary returns a line such as "430 documents, 2 errors, 1 warning".
func summary(report check.Report) string {
	parts := []string{
		words.Count(report.Documents, "document"), words.Count(report.Count(findings.Error), "error"),
		words.Count(report.Count(findings.Warning), "warning"),
	}
	if report.Known > 0 {
		parts = append(parts, fmt.Sprintf("%d in the baseline", report.Known))
	}
	if report.More > 0 {
		parts = append(parts, fmt.Sprintf("%d more not shown", report.More))
	}
	return strings.Join(parts, ", ")
}
