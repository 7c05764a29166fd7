package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// consent is the flag of commands that delete something or weaken policies. Without it they do so only if the user
// confirms it on a terminal.
type consent struct {
	Yes bool `help:"Do not ask for confirmation." short:"y"`
}

// confirm returns an error unless the user permits an act, such as to "delete 3 revisions". It prints a list of what is
// lost and, on a terminal, asks.
func (c consent) confirm(around *surroundings, act, list string) error {
	if c.Yes {
		return nil
	}
	fmt.Fprint(around.stderr, list)
	if !around.asks {
		return no("this would " + act + "; add --yes to allow it")
	}
	return ask(around, strings.ToUpper(act[:1])+act[1:]+"?")
}

// deletionLimit has the flags of changes that may delete documents.
type deletionLimit struct {
	consent

	MaxDeleted int `default:"-1" help:"Delete up to this number of documents without asking." placeholder:"N"`
}

// asks reports whether neither flag is given, so that deletions have to be confirmed.
func (l deletionLimit) asks() bool { return !l.Yes && l.MaxDeleted < 0 }

// of returns a change that may delete as many documents as the flags permit; a dry run may delete any number.
func (l deletionLimit) of(change client.Change) client.Change {
	change.MaxDeleted = max(l.MaxDeleted, 0)
	if l.Yes && l.MaxDeleted < 0 || change.DryRun {
		change.MaxDeleted = -1
	}
	return change
}

// sender sends a change to the server.
type sender func(ctx context.Context, change client.Change) (client.Written, error)

// apply makes a change. If that would delete more documents than the flags permit, or would weaken ValidationPolicies
// without --yes, it asks for confirmation on a terminal, and is refused elsewhere. policies reports whether the change
// may be one of policies: the server does not refuse to weaken them, so it is previewed.
func (l deletionLimit) apply(ctx context.Context, around *surroundings, change client.Change, send sender,
	policies bool,
) (client.Written, error) {
	var err error
	if !change.DryRun && !l.Yes && (policies || l.MaxDeleted > 0) {
		if change, l.Yes, err = confirmed(ctx, around, change, send, weakening); err != nil {
			return client.Written{}, err
		}
	}
	written, err := send(ctx, l.of(change))
	refused, ok := errors.AsType[*client.Error](err)
	switch {
	case !ok || refused.Type != "TooManyDeleted":
		return written, err
	case !l.asks():
		return written, no(words.Printable(refused.Message) + "\n--dry-run shows what would be deleted.")
	}
	if change, l.Yes, err = confirmed(ctx, around, change, send, losses); err != nil {
		return written, err
	}
	return send(ctx, l.of(change))
}

// confirmed previews a change. If show returns an act, it prints the text, and what changes in rendered documents, and
// returns an error unless the user permits the act. The change that it returns is then made exactly as shown, or not at
// all.
func confirmed(ctx context.Context, around *surroundings, change client.Change, send sender,
	show func(wire.Preview[wire.Finding]) (text, act string),
) (_ client.Change, sure bool, err error) {
	plan := change
	plan.DryRun, plan.MaxDeleted = true, -1
	would, err := send.sendRendered(ctx, plan)
	if err != nil {
		return change, false, err
	}
	preview, err := would.Preview()
	if err != nil {
		return change, false, err
	}
	text, act := show(preview)
	if act == "" {
		return change, false, nil
	}
	change.IfMatch = would.ETag
	return change, true, consent{}.confirm(around, act, text+consequences(preview, around.colors))
}
