package check

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"purser/internal/document/blockyaml"
	"purser/internal/queries"

	"purser/internal/words"
)

// Formats returns the names of the formats of reports. One file implements one of them.
func Formats() []string {
	return []string{"text", "json", "yaml", "sarif", "junit", "github", "gitlab", "name"}
}

// FormatOptions configure a format.
type FormatOptions struct {
	Color   bool   // of text
	Version string // of the program
}

// Write writes a report in a format, one of Formats.
func Write(w io.Writer, name string, report Report, options FormatOptions) error {
	report = report.Printed()
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
	case "name":
		text = namesOf(report)
	}
	if name != "text" || !options.Color {
		text = []byte(words.Printable(string(text)))
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// namesOf returns a line for each document with findings, and for each file with findings that are about no document.
func namesOf(report Report) []byte {
	var text []byte
	listed := map[string]bool{}
	for _, f := range report.Findings {
		name := f.File
		if f.Document.Schema+f.Document.Name != "" {
			name = f.Document.Schema + "/" + f.Document.Name
		}
		if !listed[name] {
			listed[name] = true
			text = append(text, words.Line(name)+"\n"...)
		}
	}
	return text
}

// subject returns the subject of a finding, such as "[acme/Host/v1, site] cmp-1 .data.rack", or "" if it is unknown.
func subject(f Finding) string {
	if f.Document.Schema+f.Document.Name == "" {
		return f.Path
	}
	return strings.TrimSpace(f.Document.Known() + " " + f.Path)
}

// sentence returns a finding's message in one line, after its subject unless the message names that itself.
func sentence(f Finding) string {
	message := strings.ReplaceAll(f.Message, "\n", " ")
	about := subject(f)
	if about == "" || f.Path == "" && strings.Contains(message, f.Document.Name) {
		return message
	}
	return about + ": " + message
}

// uri returns the name of a file as a URI reference.
func uri(file string) string {
	if file == "-" {
		return "stdin"
	}
	u := url.URL{Path: file}
	return u.String()
}

// summary returns a line such as "430 documents, 2 errors, 1 warning".
func summary(report Report) string {
	parts := []string{
		words.Count(report.Documents, "document"), words.Count(report.Count(queries.LevelError), "error"),
		words.Count(report.Count(queries.LevelWarning), "warning"),
	}
	if report.Known > 0 {
		parts = append(parts, fmt.Sprintf("%d in the baseline", report.Known))
	}
	if report.More > 0 {
		parts = append(parts, fmt.Sprintf("of which the first %d findings are shown", len(report.Findings)))
	}
	return strings.Join(parts, ", ")
}
