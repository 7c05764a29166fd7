package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"purser/internal/client"
	"purser/internal/words"
)

// statusCommand prints whether a revision may be deployed.
type statusCommand struct {
	remote
	output

	Revision string        `arg:"" default:"latest" help:"Revision: 17, latest, tag:NAME, latest~1."`
	Expect   string        `enum:",success" default:"" help:"Exit with 1 unless the status is this: success." placeholder:"STATUS"`
	Wait     time.Duration `help:"Wait up to this long for missing results, if the status can still become a success." placeholder:"10m"`
}

// Validate refuses a wait that ends before it begins.
func (c *statusCommand) Validate() error { return validWait(c.Wait) }

func validWait(wait time.Duration) error {
	if wait < 0 {
		return fmt.Errorf("--wait must be a time such as 10m, not %v", wait)
	}
	return nil
}

// Help returns the end of the command's help.
func (*statusCommand) Help() string {
	return `Examples:

  purser status                                  # of the newest revision
  purser status 17 --expect success && ./deploy  # a gate
  purser status 17 --expect success --wait 10m   # a gate that waits for results`
}

// Run prints the status of the revision. With --expect it fails if the status is different.
func (c *statusCommand) Run(ctx context.Context, around *surroundings) error {
	server, err := c.connect(ctx, around)
	if err != nil {
		return err
	}
	return c.show(ctx, around, server)
}

// poll is the interval of requests to a server that does not support waiting.
const poll = 5 * time.Second

func (c *statusCommand) show(ctx context.Context, around *surroundings, server *client.Client) error {
	resolve := server.Resolve
	if c.Wait > 0 {
		resolve = server.Number // a request that is sent again is about the same revision
	}
	revision, err := resolve(ctx, c.Revision)
	if err != nil {
		return err
	}
	verdict, text, err := server.Status(ctx, revision, c.Wait, poll)
	if err != nil {
		return err
	}
	err = c.print(around, shown{text, []string{verdict.Status}, func(w io.Writer) { verdictTable(w, verdict) }})
	if err == nil && c.Expect != "" && verdict.Status != c.Expect {
		return no(fmt.Sprintf("the status of revision %d is %s", verdict.Revision, verdict.Status))
	}
	return err
}

// verdictTable prints a verdict: the status, each required validation, and the reasons of failures.
func verdictTable(w io.Writer, verdict client.Verdict) {
	fmt.Fprintf(w, "revision %d: %s\n", verdict.Revision, verdict.Status)
	var rows [][]string
	var reasons []string
	add := func(validations []client.Validation, note string) {
		for _, v := range validations {
			rows = append(rows, []string{"  " + v.Status, v.Name, note})
			if reason := v.Name + ": " + v.Message; v.Message != "" && !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	for _, policy := range verdict.Policies {
		if policy.Broken() {
			rows = append(rows, []string{"  " + policy.Status, policy.Name, "the document is not a valid ValidationPolicy"})
		}
		add(policy.Validations, "policy "+policy.Name)
	}
	add(verdict.Validations, "")
	add(verdict.Ignored, "ignored")
	columns(w, rows)
	for _, reason := range reasons {
		fmt.Fprintln(w, words.Line(reason))
	}
	for _, warning := range verdict.Warnings {
		fmt.Fprintln(w, words.Line("warning: "+warning))
	}
	if verdict.Status == "failure" {
		fmt.Fprintf(w, "All that is wrong: purser findings %d\n", verdict.Revision)
	}
}

// findingText formats a finding as one line, without its place in a file.
func findingText(f client.Finding) string {
	what := f.Validation
	if f.Document != nil {
		what = strings.TrimSpace(f.Document.String() + " " + f.Path)
	}
	text := what + ": " + f.Message
	if f.Level != "error" {
		text = f.Level + ": " + text
	}
	if f.Advice != "" {
		text += " (" + f.Advice + ")"
	}
	return text
}

// restText returns a line with the number of findings that are not shown, "" if there are none.
func restText(count, total int, more bool) string {
	switch rest := total - count; {
	case more:
		return "and more than " + strconv.Itoa(rest) + " others"
	case rest > 0:
		return "and " + strconv.Itoa(rest) + " more"
	}
	return ""
}
