package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"purser/cmd/purser/internal/views"
	"purser/internal/client"
	"purser/internal/wire"
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
func (c *statusCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	const poll = 5 * time.Second // of a server that does not support waiting
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
	found, err := c.findings(ctx, server, verdict)
	if err != nil {
		return err
	}
	err = c.print(around, views.Verdict(text, verdict, found))
	if err == nil && c.Expect != "" && verdict.Status != c.Expect {
		return no(fmt.Sprintf("the status of revision %d is %s", verdict.Revision, verdict.Status))
	}
	return err
}

// findings returns the first findings of a verdict that is printed for people; none for a success, and for callers who
// may not read them.
func (c *statusCommand) findings(ctx context.Context, server *client.Client, verdict wire.Verdict) (
	found wire.Findings, err error,
) {
	if c.Output != "table" || verdict.Status == "success" {
		return found, nil
	}
	query := url.Values{"limit": {"20"}, "level": {"error"}}
	_, err = server.Get(ctx, &found, query, "revisions", strconv.FormatInt(verdict.Revision, 10), "findings")
	if _, answered := errors.AsType[*client.Error](err); answered {
		return wire.Findings{}, nil // the verdict is still known
	}
	return found, err
}
