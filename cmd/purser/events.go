package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"purser/internal/client"
	"purser/internal/document/blockyaml"
	"purser/internal/events"
	"purser/internal/wire"
	"purser/internal/words"
)

// eventsCommand prints events.
type eventsCommand struct {
	remote

	Follow bool     `formerly:"f" help:"Follow new events until interrupted."`
	Since  string   `default:"0" help:"Start after the event with this id, as -o name prints it; 0 (default): with the oldest event kept; now: with new events." placeholder:"ID"`
	Type   []string `help:"Only events of this type, such as purser.verdict.changed." sep:"none" values:"event types"`
	Output string   `default:"text" enum:"text,table,name,json,yaml" help:"Output format: text or table (default), name (the ids), json (one event per line) or yaml." placeholder:"FORM" short:"o"`
}

// Run prints events, and follows new ones if asked to.
func (c *eventsCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	const patience = 30 * time.Second
	query, cursor, wait := url.Values{}, c.Since, time.Duration(0)
	if len(c.Type) > 0 {
		query["type"] = c.Type
	}
	for {
		next, found, err := server.Events(ctx, cursor, query, wait)
		if refused, ok := errors.AsType[*client.Error](err); ok && refused.Type == "HTTPRouteNotFound" {
			return fmt.Errorf("%s keeps no events: it is an older version of Purser", server.Server)
		}
		if err != nil {
			return err
		}
		for _, event := range found {
			text, err := eventText(event, c.Output)
			if err != nil {
				return err
			}
			if err := write(around, text); err != nil {
				return err
			}
		}
		switch {
		case next != cursor && len(found) > 0:
			wait = 0 // there may be more
		case !c.Follow:
			return nil
		default:
			wait = patience
		}
		cursor = next
	}
}

// eventText returns an event in a format: text, table, name, json or yaml.
func eventText(text []byte, format string) (string, error) {
	switch format {
	case "json":
		return words.PrintableJSON(string(text)), nil
	case "yaml":
		return "---\n" + string(blockyaml.Append(nil, text)), nil
	}
	var event events.Cloud
	if err := (client.Answer{Body: text}).Decode(&event); err != nil {
		return "", err
	}
	if format == "name" {
		return words.Line(event.ID), nil
	}
	var values map[string]any
	if err := (client.Answer{Body: event.Data}).Decode(&values); err != nil {
		return "", err
	}
	var data []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if value, ok := values[key].(string); ok {
			data = append(data, key+"="+value)
		} else {
			data = append(data, key+"="+string(marshal(values[key])))
		}
	}
	return words.Line(fmt.Sprintf("%s  %s  %s  %s", moment(wire.Optional(event.Time)), event.Type, dash(event.Subject),
		strings.Join(data, " "))), nil
}
