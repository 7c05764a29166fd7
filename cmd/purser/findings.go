package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"purser/internal/wire"
	"purser/internal/words"
)

// findingsCommand lists the findings of a revision.
type findingsCommand struct {
	remoteRevision
	output

	Validation string `help:"Only those of this validation." values:"validations"`
	Document   string `help:"Only those of documents of this name." values:"names"`
	Level      string `default:"" enum:",error,warning,info" help:"Only those of this level: error, warning or info."`
	Limit      int    `default:"1000" help:"Maximum number." short:"n"`
}

// Run prints the findings of the revision.
func (c *findingsCommand) Run(ctx context.Context, around *surroundings, server opened) error {
	query := url.Values{"limit": {strconv.Itoa(c.Limit)}}
	for name, value := range map[string]string{"validation": c.Validation, "document": c.Document, "level": c.Level} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var found wire.Findings
	text, err := server.Get(ctx, &found, query, "revisions", server.revision, "findings")
	if err != nil {
		return err
	}
	return c.print(around, findingList(text, found))
}

// findingList returns the findings of a revision.
func findingList(text []byte, found wire.Findings) answer {
	var names []string
	for _, f := range found.Findings {
		if f.Document != nil {
			names = append(names, f.Document.Schema+"/"+f.Document.Name)
		} else {
			names = append(names, f.Validation)
		}
	}
	return answer{text, names, findingsText(found.Findings, nil, found.Counts)}
}

// findingsText returns a line for each finding, with its place in the files if places has one, or else its bucket.
// A last line counts those that are not shown.
func findingsText(findings []wire.Finding, places []string, counts wire.Counts) string {
	var b strings.Builder
	for i, f := range findings {
		text := bucketed(f)
		if place := placeAt(places, i); place != "" {
			text = place + ": " + findingText(f)
		}
		fmt.Fprintln(&b, words.Line(text))
	}
	return b.String() + words.Rest(counts.Total-len(findings), counts.More)
}

// bucketed formats a finding as one line, with the bucket of its document.
func bucketed(f wire.Finding) string {
	if f.Document == nil || f.Document.Bucket == "" {
		return findingText(f)
	}
	return findingText(f) + " (bucket " + string(f.Document.Bucket) + ")"
}

// placeAt returns the place of the finding at an index, "" if there is none.
func placeAt(places []string, i int) string {
	if i < len(places) {
		return places[i]
	}
	return ""
}

// findingText formats a finding as one line, without its place in a file.
func findingText(f wire.Finding) string {
	what := f.Validation
	if f.Document != nil {
		what = strings.TrimSpace(f.Document.String() + " " + string(f.Path))
	}
	text := what + ": " + f.Message
	if f.Level != "error" {
		text = f.Level + ": " + text
	}
	if f.Advice != "" {
		text += " (" + string(f.Advice) + ")"
	}
	return text
}
