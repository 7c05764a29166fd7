package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"purser/cmd/purser/internal/folder"
	"purser/internal/client"
	"purser/internal/wire"
)

// dryRun has the flags of changes that can be previewed.
type dryRun struct {
	DryRun           bool `formerly:"n" help:"Preview the change, and change nothing."`
	Rendered         bool `help:"With --dry-run: show also what changes in rendered documents, each difference once with all documents that have it."`
	DetailedExitCode bool `help:"With --dry-run: exit with 0 if nothing would change, with 2 if something would, and otherwise with 1."`
}

// validDetail refuses a detailed exit code and rendered documents of anything but a dry run.
func (d dryRun) validDetail() error {
	switch {
	case d.DetailedExitCode && !d.DryRun:
		return errors.New("--detailed-exit-code needs --dry-run")
	case d.Rendered && !d.DryRun:
		return errors.New("--rendered needs --dry-run; purser diff latest~1 --rendered shows what a change has done")
	}
	return nil
}

// isDetailed reports whether arguments ask for a detailed exit code.
func isDetailed(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, value, given := strings.Cut(arg, "=")
		isFalse := given && slices.Contains([]string{"false", "0", "no"}, strings.ToLower(value))
		return name == "--detailed-exit-code" && !isFalse
	})
}

// errWouldChange is the error of a preview with a detailed exit code that went well and shows a change.
var errWouldChange = errors.New("")

// plan prints a preview of a push: each added, changed and deleted document, with differences, and the verdict.
func (p *push) plan(ctx context.Context) error {
	send := sender(p.send)
	if p.Format == "markdown" && !p.Rendered { // else a caller who may not compare documents is refused
		send = send.sendRendered
	}
	written, err := send(ctx, p.of(p.change))
	if err != nil {
		return p.refusal(p.around, p.refused(err), p.named()...)
	}
	preview, err := written.Preview()
	if err != nil {
		return err
	}
	differences, err := p.differences(ctx, preview)
	if err != nil {
		return err
	}
	if p.isReport() {
		return p.reportPlan(preview, differences)
	}
	a := pushPreview(written, preview, differences, p.places(preview.Findings), p.around.colors)
	return p.printPreview(p.around, output{p.Format}, preview, a)
}

// printPreview prints the preview of a change. It returns an error that makes the exit code 1 if the verdict would be a
// failure that no posted result can change.
func (d dryRun) printPreview(around *surroundings, o output, preview wire.Preview[wire.Finding], a answer) error {
	switch err := o.print(around, a); {
	case err != nil:
		return err
	case preview.Fails():
		return no("")
	case d.DetailedExitCode && preview.Changed:
		return errWouldChange
	}
	return nil
}

// differences returns the unified diff of each changed document, without the data of encrypted documents.
func (p *push) differences(ctx context.Context, preview wire.Preview[wire.Finding]) (map[wire.Identity]string, error) {
	var changed []wire.Identity
	buckets := map[string]bool{}
	for _, d := range preview.Documents {
		if d.Change == "modified" || d.Change == "moved" {
			changed = append(changed, d.Identity())
			buckets[cmp.Or(d.From, d.Bucket)] = true
		}
	}
	if len(changed) == 0 || p.Format != "table" && p.Format != "markdown" {
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
