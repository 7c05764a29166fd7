package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"purser/cmd/purser/internal/views"
	"purser/internal/client"
)

// eventsCommand prints events.
type eventsCommand struct {
	remote

	Follow bool     `help:"Follow new events until interrupted." short:"f"`
	Since  string   `default:"0" help:"Cursor to start after; 0 for the oldest event kept, now for new events only." placeholder:"CURSOR"`
	Type   []string `help:"Only events of this type, such as purser.verdict.changed." sep:"none"`
	Output string   `default:"text" enum:"text,json,yaml" help:"Output format: text, json (one event per line) or yaml." placeholder:"FORM" short:"o"`
}

// Help returns the end of the command's help.
func (*eventsCommand) Help() string {
	return `Examples:

  purser events                                             # past events, oldest first
  purser events --follow --since now -o json | ./notify`
}

// Run prints events, and follows new ones if asked to.
func (c *eventsCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	const patience = 30 * time.Second
	query, cursor, wait := url.Values{}, c.Since, time.Duration(0)
	if len(c.Type) > 0 {
		query["type"] = c.Type
	}
	for {
		next, events, err := server.Events(ctx, cursor, query, wait)
		if refused, ok := errors.AsType[*client.Error](err); ok && refused.Type == "HTTPRouteNotFound" {
			return fmt.Errorf("%s keeps no events: it is an older version of Purser", server.Server)
		}
		if err != nil {
			return err
		}
		for _, event := range events {
			text, err := views.Event(event, c.Output)
			if err != nil {
				return err
			}
			if err := write(around, text); err != nil {
				return err
			}
		}
		switch {
		case next != cursor && len(events) > 0:
			wait = 0 // there may be more
		case !c.Follow:
			return nil
		default:
			wait = patience
		}
		cursor = next
	}
}
