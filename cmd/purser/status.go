package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"purser/internal/client"
	"purser/internal/document"
	"purser/internal/files"
	"purser/internal/wire"
	"purser/internal/words"
)

// statusCommand prints whether a revision may be deployed.
type statusCommand struct {
	remote
	output

	Revision  string        `arg:"" default:"latest" help:"Revision: 17, latest (default), tag:NAME, or latest~1, the one before latest." values:"revisions"`
	Expect    string        `enum:",success" default:"" help:"Exit with 1 unless this is the status. The only one to expect is success." placeholder:"STATUS"`
	Wait      time.Duration `help:"Wait up to this long for missing results, if the status can still become a success." placeholder:"10m"`
	NoWaivers bool          `help:"Show the status as it would be without waivers."`

	Attestation string `help:"If the status is a success, also store its attestation, which the server signs, in this file; else exit with 1." placeholder:"FILE" complete:"file"`
}

// Validate refuses a wait that ends before it begins.
func (c *statusCommand) Validate() error { return validWait(c.Wait) }

func validWait(wait time.Duration) error {
	if wait < 0 {
		return fmt.Errorf("--wait must be a time such as 10m, not %v", wait)
	}
	return nil
}

// Run prints the status of the revision. With --expect it fails if the status is different.
func (c *statusCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	const poll = 5 * time.Second // of a server that does not support waiting
	var query url.Values
	if c.NoWaivers {
		query = url.Values{"waivers": {"false"}}
	}
	resolve := server.Resolve
	if c.Wait > 0 {
		resolve = server.Number // a request that is sent again is about the same revision
	}
	revision, err := resolve(ctx, c.Revision)
	if err != nil {
		return err
	}
	verdict, said, err := awaited(around, c.Wait, func(wait time.Duration) (wire.Verdict, client.Answer, error) {
		return server.Status(ctx, revision, query, wait, poll)
	})
	if err != nil {
		return err
	}
	found, err := c.findings(ctx, server, verdict)
	if err != nil {
		return err
	}
	err = c.print(around, verdictAnswer(said, verdict, found, c.site(), around.colors))
	if err == nil {
		err = c.attest(ctx, server, verdict)
	}
	if err == nil && c.Expect != "" && verdict.Status != c.Expect {
		return no(fmt.Sprintf("the status of revision %d is %s", verdict.Revision, verdict.Status))
	}
	return err
}

// attest stores the attestation of a success, if that was asked for.
func (c *statusCommand) attest(ctx context.Context, server *client.Client, verdict wire.Verdict) error {
	switch {
	case c.Attestation == "":
		return nil
	case verdict.Status != "success":
		return no(fmt.Sprintf("the status of revision %d is %s, so there is no attestation of it, and %s was not written",
			verdict.Revision, verdict.Status, c.Attestation))
	}
	envelope, err := server.Get(ctx, nil, nil, "revisions", strconv.FormatInt(verdict.Revision, 10), "attestation")
	if err != nil {
		return fmt.Errorf("get the attestation: %w", err)
	}
	return files.Replace(c.Attestation, envelope)
}

// findings returns the first findings of a verdict that is printed for people; none for a success, and for callers who
// may not read them.
func (c *statusCommand) findings(ctx context.Context, server *client.Client, verdict wire.Verdict) (
	found wire.Findings, err error,
) {
	if c.Output != "table" || verdict.Status == "success" {
		return found, nil
	}
	query := url.Values{"limit": {strconv.Itoa(maxBelow)}, "level": {"error"}}
	_, err = server.Get(ctx, &found, query, "revisions", strconv.FormatInt(verdict.Revision, 10), "findings")
	if _, answered := errors.AsType[*client.Error](err); answered {
		return wire.Findings{}, nil // the verdict is still known
	}
	return found, err
}

// verdictAnswer returns the verdict on a revision: the status, each required validation, the reasons of failures that
// have no findings, the first findings or their causes with the commands that help, and where the others are. site is
// the flag with which commands name the site, "" if they need none.
func verdictAnswer(said client.Answer, verdict wire.Verdict, found wire.Findings, site string, colors bool) answer {
	explained := map[string]bool{}
	for _, number := range found.ByValidation {
		explained[number.Name] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "revision %d: %s", verdict.Revision, paint(colors, statusTint(verdict.Status), verdict.Status))
	if n := len(verdict.Waived); n > 0 {
		b.WriteString("; " + paint(colors, yellow, fmt.Sprintf("waived: %d", n)))
	}
	b.WriteByte('\n')
	var rows [][]string
	var reasons []string
	add := func(validations []wire.Validation, note string) {
		for _, v := range validations {
			notes := slices.DeleteFunc([]string{note, noteOn(v)}, func(text string) bool { return text == "" })
			rows = append(rows, []string{"  " + v.Status, v.Name, strings.Join(notes, ", ")})
			if v.Advisory || v.Holds() { // the warnings or the note say why
				continue
			}
			if reason := v.Name + ": " + v.Message; v.Message != "" && !explained[v.Name] && !slices.Contains(reasons, reason) {
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
	b.WriteString(paintedTable(rows, 0, colors))
	if verdict.Notice != "" {
		fmt.Fprintln(&b, words.Line(verdict.Notice))
	}
	for _, reason := range reasons {
		fmt.Fprintln(&b, words.Line(document.WithoutNone(reason)))
	}
	b.WriteString(warningLines(colors, verdict.Warnings...))
	revision := strconv.FormatInt(verdict.Revision, 10) + site
	b.WriteString(belowVerdict(found, revision, colors))
	if verdict.Status == "failure" {
		fmt.Fprintf(&b, "All that is wrong: purser findings %s\n", revision)
	}
	if page := said.Page(); page != "" {
		fmt.Fprintln(&b, "Page:", words.Line(page))
	}
	return answer{said.Body, []string{verdict.Status}, b.String()}
}

// noteOn returns what is to be said about a validation beside its status; "" if there is nothing.
func noteOn(v wire.Validation) string {
	var notes []string
	if v.Advisory {
		notes = append(notes, "advisory")
	}
	if v.Holds() && v.Message != "" {
		notes = append(notes, v.Message)
	}
	if w := v.Waived; w != nil {
		notes = append(notes, "waived by "+cmp.Or(string(w.By), "an anonymous user")+" until "+moment(w.Until)+": "+w.Reason)
	}
	if c := v.Claim; c != nil {
		notes = append(notes, fmt.Sprintf("claimed by %s since %s, attempt %d", c.Worker, moment(c.Since), c.Attempt))
	}
	if from := originOf(v.Newest); from != "" && v.Status != "not-applicable" {
		notes = append(notes, from)
	}
	return strings.Join(notes, ", ")
}

// originOf says from where a result was carried over, of when, with which inputs; "" if it was not.
func originOf(newest *wire.Newest) string {
	if newest == nil || newest.CarriedFrom == 0 {
		return ""
	}
	text := fmt.Sprintf("carried over from revision %d, of %s", newest.CarriedFrom, moment(newest.CreatedAt))
	if len(newest.Inputs) > 0 {
		text += ", inputs " + string(newest.Inputs)
	}
	return text
}

// maxBelow is the maximum number of findings or causes below a verdict.
const maxBelow = 10

// belowVerdict returns the lines below a verdict on a revision: its findings or, if the list does not have all of them,
// the first one of each cause, with the commands that help.
func belowVerdict(found wire.Findings, revision string, colors bool) string {
	var b strings.Builder
	add := func(f wire.Finding, like string) {
		b.WriteString(findingLine(f, "", colors) + words.Line(like) + "\n" + commandLine(f, revision))
	}
	rest := found.Total - len(found.Findings)
	if rest == 0 || len(found.Causes) == 0 {
		for _, f := range found.Findings {
			add(f, "")
		}
		return b.String() + words.Rest(rest, found.More)
	}
	rest = found.Total
	for _, cause := range found.Causes[:min(len(found.Causes), maxBelow)] {
		add(cause.First, words.Others(cause.Findings, cause.Documents, cause.More))
		rest -= cause.Findings
	}
	return b.String() + words.Rest(rest, found.More)
}

// verdictWord converts the status of a revision to the word of a verdict: older servers and those with
// --compat=deckhand say failed.
func verdictWord(status string) string {
	if status == "failed" {
		return "failure"
	}
	return status
}
