package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"purser/cmd/purser/internal/difftext"
	"purser/cmd/purser/internal/folder"
	"purser/internal/client"
	"purser/internal/words"
)

// plan prints a preview of a push: each added, changed and deleted document, with differences, and the
// verdict. It returns an error that makes the exit code 1 if that is a failure that no posted result can change.
func (p *push) plan(ctx context.Context) error {
	written, err := p.send(ctx, p.change)
	if err != nil {
		return p.refused(err)
	}
	preview, err := written.Preview()
	if err != nil {
		return err
	}
	differences, err := p.differences(ctx, preview)
	if err != nil {
		return err
	}
	err = p.print(p.around, shown{written.Body, changeNames(preview), func(w io.Writer) {
		for _, d := range preview.Documents {
			from := ""
			if d.From != "" {
				from = ", from bucket " + d.From
			}
			fmt.Fprintln(w, words.Line(fmt.Sprintf("%-8s %s (bucket %s%s)", wordOf(d), d, d.Bucket, from)))
			fmt.Fprint(w, difftext.Indented(differences[d.Identity], p.around.colors))
		}
		did := preview.Changes
		if preview.Changed {
			fmt.Fprintf(w, "Would be revision %s: added=%d, modified=%d, deleted=%d, unchanged=%d\n", written.Revision,
				did.Added, did.Modified, did.Deleted, did.Unchanged)
		} else {
			fmt.Fprintf(w, "Nothing would change.\n")
		}
		p.findings(ctx, w, preview.Findings, preview.Total, preview.More)
		for _, warning := range preview.Warnings {
			if preview.Total == 0 { // otherwise they are among the findings
				fmt.Fprintln(w, words.Line("warning: "+warning))
			}
		}
		if preview.Withheld != "" {
			fmt.Fprintln(w, words.Line(preview.Withheld))
		}
		fmt.Fprintln(w, verdictLine(preview))
	}})
	if err == nil && preview.Fails() {
		return no("")
	}
	return err
}

// verdictLine returns a line with the status of the new revision, or with that of the present one if nothing would
// change.
func verdictLine(preview client.Preview) string {
	line := "Status would be: "
	if !preview.Changed {
		line = "Status is: "
	}
	line += verdictWord(preview.Status)
	if preview.Status == "failed" && !preview.Fails() {
		line += ", until results are posted"
	}
	return line
}

// statusLine returns a line for the header Purser-Status, such as failure; findings=2. Its number counts no
// findings: a document counts once, however many it has.
func statusLine(header string) string {
	status, failing, counted := strings.Cut(header, "; findings=")
	line := "Status: " + status
	if counted && failing != "0" {
		line += "; failing documents and validations: " + failing
	}
	return line
}

// verdictWord converts the status of a revision to the word of a verdict.
func verdictWord(status string) string {
	if status == "failed" {
		return "failure"
	}
	return status
}

// differences returns the unified diff of each changed document, without the data of encrypted documents.
func (p *push) differences(ctx context.Context, preview client.Preview) (map[client.Identity]string, error) {
	var changed []client.Identity
	buckets := map[string]bool{}
	for _, d := range preview.Documents {
		if d.Change == "modified" || d.Change == "moved" {
			changed = append(changed, d.Identity)
			buckets[cmp.Or(d.From, d.Bucket)] = true
		}
	}
	if len(changed) == 0 || p.Output != "table" {
		return nil, nil
	}
	answer, err := p.server.Do(ctx, client.Request{
		Path:  []string{"revisions", "latest", "documents"},
		Query: url.Values{"status.bucket": slices.Sorted(maps.Keys(buckets))},
	})
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusForbidden {
		return nil, nil // callers who may not read documents get no differences
	}
	if err != nil {
		return nil, err
	}
	before, err := folder.Parse(answer.Body)
	if err != nil {
		return nil, err
	}
	return p.body.Differences(ctx, before, changed)
}
