package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"purser/cmd/purser/internal/views"
	"purser/internal/client"
	"purser/internal/words"
)

// consent is the flag of commands that delete something. Without it they delete nothing unless the user confirms it on
// a terminal.
type consent struct {
	Yes bool `help:"Delete without being asked." short:"y"`
}

// confirm returns an error unless the user permits to delete what, such as 3 revisions. It prints a list of them and,
// on a terminal, asks.
func (c consent) confirm(around *surroundings, what, list string) error {
	if c.Yes {
		return nil
	}
	fmt.Fprint(around.stderr, list)
	if !around.asks {
		return no("this would delete " + what + "; add --yes to permit it")
	}
	return ask(around, "Delete "+what+"?")
}

// deletionLimit has the flags of changes that may delete documents.
type deletionLimit struct {
	consent

	MaxDeleted int `default:"-1" help:"Delete up to this number of documents without being asked." placeholder:"N"`
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

// apply makes a change. If that would delete more documents than the flags permit, it asks for confirmation on a
// terminal, and is refused elsewhere.
func (l deletionLimit) apply(ctx context.Context, around *surroundings, change client.Change, send sender) (
	client.Written, error,
) {
	written, err := send(ctx, l.of(change))
	refused, ok := errors.AsType[*client.Error](err)
	switch {
	case !ok || refused.Type != "TooManyDeleted":
		return written, err
	case !l.asks():
		return written, no(refused.Message + "\n--dry-run shows what would be deleted.")
	case !around.asks:
		return written, no(withoutLimit(refused.Message) + "\nWithout --yes or --max-deleted, nothing is deleted unless " +
			"you confirm it on a terminal; --dry-run shows what would be deleted.")
	}
	change, err = confirmed(ctx, around, change, send, views.Deletions)
	if err != nil {
		return written, err
	}
	l.Yes = true
	return send(ctx, l.of(change))
}

// confirmed previews a change, prints what show returns of it and asks its question. It returns the change such that it
// is made exactly as shown, or not at all.
func confirmed(ctx context.Context, around *surroundings, change client.Change, send sender,
	show func(client.Preview) (text, question string),
) (client.Change, error) {
	plan := change
	plan.DryRun, plan.MaxDeleted = true, -1
	would, err := send(ctx, plan)
	if err != nil {
		return change, err
	}
	preview, err := would.Preview()
	if err != nil {
		return change, err
	}
	text, question := show(preview)
	fmt.Fprint(around.stderr, text)
	change.IfMatch = would.ETag
	return change, ask(around, question)
}

// allowsNone matches the words of the server about a limit of 0.
var allowsNone = regexp.MustCompile(`more documents \((\d+)\) than max-deleted allows \(0\)`)

// withoutLimit removes the limit of 0, which the user did not give, from a refusal to delete documents.
func withoutLimit(message string) string {
	return allowsNone.ReplaceAllStringFunc(message, func(said string) string {
		count, _ := strconv.Atoi(allowsNone.FindStringSubmatch(said)[1])
		return words.Count(count, "document")
	})
}
