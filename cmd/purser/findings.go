package main

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/document/blockyaml"
	"purser/internal/validations"
	"purser/internal/wire"
	"purser/internal/words"
)

// findingsCommand lists the findings of a revision.
type findingsCommand struct {
	remoteRevision
	output

	Validation string `help:"Only those of this validation." placeholder:"NAME" values:"validations"`
	Document   string `help:"Only those of documents of this name." placeholder:"NAME" values:"names"`
	Level      string `default:"" enum:",error,warning,info" help:"Only those of this level: error, warning or info." placeholder:"LEVEL"`
	Limit      int    `default:"0" help:"Maximum number; default: all." placeholder:"N" short:"n"`
}

// Run prints the findings of the revision, page by page.
func (c *findingsCommand) Run(ctx context.Context, around *surroundings, server opened) error {
	const most = 10_000 // that a server lists at once
	query := url.Values{}
	for name, value := range map[string]string{"validation": c.Validation, "document": c.Document, "level": c.Level} {
		if value != "" {
			query.Set(name, value)
		}
	}
	left := c.Limit
	if left <= 0 {
		left = math.MaxInt
	}
	var counts wire.Counts
	for number, shown := 1, 0; ; number++ {
		query.Set("limit", strconv.Itoa(min(most, left)))
		var found wire.Findings
		text, err := server.Get(ctx, &found, query, "revisions", server.revision, "findings")
		if err != nil {
			return err
		}
		if number == 1 {
			counts = found.Counts
		}
		if found.Revision != nil {
			server.revision = strconv.FormatInt(*found.Revision, 10) // later pages are about the same one
		}
		before := shown
		shown, left = shown+len(found.Findings), left-len(found.Findings)
		page := findingsPage{found, text, number == 1, found.Next == "" || left == 0, before}
		out := page.in(c.Output, server.revision+c.site(), around.colors)
		if page.last && c.Output == "table" {
			out += restOf(counts, found, shown)
		}
		if err := write(around, out); err != nil || page.last {
			return err
		}
		query.Set("after", string(found.Next))
	}
}

// restOf returns a line with the number of findings that are not shown, "" if all are. counts are those of the first
// page, which may not have looked at all that the pages up to the last one have.
func restOf(counts wire.Counts, last wire.Findings, shown int) string {
	more := counts.More
	if last.Next == "" {
		more = last.More
	}
	return words.Rest(max(0, counts.Total-shown), more)
}

// findingsPage is a page of the findings of a revision.
type findingsPage struct {
	wire.Findings

	text        []byte // the answer of the server
	first, last bool
	before      int // the number of findings on the pages before
}

// in returns a page in a format: json, yaml, name or table. Pages that follow each other make one text. revision is as
// for findingsText.
func (p findingsPage) in(format, revision string, colors bool) string {
	switch {
	case format == "table":
		return findingsText(p.Findings.Findings, nil, revision, colors)
	case format == "name" || p.first && p.last:
		return answer{json: p.text, names: subjectsOf(p.Findings.Findings)}.in(format)
	}
	items, some, none := marshal(p.Findings.Findings), len(p.Findings.Findings) > 0, p.before+len(p.Findings.Findings) == 0
	p.Findings.Findings, p.Next = []wire.Finding{}, ""
	head, text := marshal(p.Findings), ""
	if format == "yaml" {
		if p.first {
			text = strings.TrimSuffix(string(blockyaml.Append(nil, head)), " []\n") + "\n"
		}
		if some {
			text += string(blockyaml.Append(nil, items))
		} else if p.last && none {
			text += " []\n"
		}
		return text
	}
	if p.first {
		text = words.PrintableJSON(strings.TrimSuffix(string(head), "]}"))
	}
	if some && p.before > 0 {
		text += ","
	}
	text += words.PrintableJSON(strings.TrimSuffix(string(items[1:]), "]"))
	if p.last {
		text += "]}"
	}
	return text
}

// subjectsOf returns the document of each finding as SCHEMA/NAME, or else its validation.
func subjectsOf(findings []wire.Finding) (names []string) {
	for _, f := range findings {
		if f.Document != nil {
			names = append(names, f.Document.Schema+"/"+f.Document.Name)
		} else {
			names = append(names, f.Validation)
		}
	}
	return names
}

// findingsText returns a line for each finding, with its place in the files if places has one, or else its bucket.
// Below a missing result is the command that posts it, unless revision is "". revision is followed by the flag with the
// site, if commands have to name that.
func findingsText(findings []wire.Finding, places []string, revision string, colors bool) string {
	var b strings.Builder
	for i, f := range findings {
		b.WriteString(findingLine(f, placeAt(places, i), colors) + "\n")
		if f.Document == nil {
			b.WriteString(commandLine(f, revision))
		}
	}
	return b.String()
}

// findingLine formats a finding as one line: its place in a file, if it is known, its level, and what is wrong.
func findingLine(f wire.Finding, place string, colors bool) string {
	what := findingText(f)
	if place == "" && f.Document != nil && f.Document.Bucket != "" {
		what += " (bucket " + string(f.Document.Bucket) + ")"
	}
	if place == "" && f.File != "" {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	if place != "" {
		place = paint(colors, bold, words.Line(place)+":") + " "
	}
	level := levelWord(f)
	return place + paint(colors, statusTint(level), words.Line(level)+":") + " " + words.Line(what)
}

// levelWord returns the level of a finding or, of an error, that it is about a missing or expired result.
func levelWord(f wire.Finding) string {
	if f.Level == "error" && lacks(f) {
		return string(f.Rule)
	}
	return f.Level
}

// lacks reports whether a finding is about a missing or expired result.
func lacks(f wire.Finding) bool { return f.Rule == "missing" || f.Rule == "expired" }

// commandLine returns an indented line with the command that helps with a finding about a revision: it posts a
// result that is missing, approves the revision, or shows a document. It returns "" if there is no such command,
// or if revision is "".
func commandLine(f wire.Finding, revision string) string {
	switch {
	case revision == "":
		return ""
	case f.Document != nil && f.Document.Name != "":
		return fmt.Sprintf("    purser show %s --schema %s --name %s\n", revision, shellWord(f.Document.Schema),
			shellWord(f.Document.Name))
	case f.Document == nil && lacks(f) && strings.Contains(f.Message, " approvals"):
		return fmt.Sprintf("    purser approve %s %s\n", shellWord(f.Validation), revision)
	case f.Document == nil && lacks(f) && !validations.IsReserved(f.Validation):
		return fmt.Sprintf("    purser results post %s %s --status success\n", shellWord(f.Validation), revision)
	}
	return ""
}

// plainWord matches words that a shell takes as they are.
var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// shellWord quotes a word for a shell if necessary. Its characters are printable.
func shellWord(word string) string {
	if word = words.Line(word); plainWord.MatchString(word) {
		return word
	}
	return quoted(word)
}

// placeAt returns the place of the finding at an index, "" if there is none.
func placeAt(places []string, i int) string {
	if i < len(places) {
		return places[i]
	}
	return ""
}

// findingText formats a finding without its level and its place in a file.
func findingText(f wire.Finding) string {
	what := f.Validation
	if f.Document != nil {
		what = strings.TrimSpace(f.Document.String() + " " + string(f.Path))
	}
	text := what + ": " + document.WithoutNone(f.Message)
	if f.Advice != "" {
		text += " (" + string(f.Advice) + ")"
	}
	return text
}
