package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"purser/internal/client"
	"purser/internal/words"
)

// bucketsCommand lists the buckets.
type bucketsCommand struct {
	remote
	output
}

// Help returns the end of the command's help.
func (*bucketsCommand) Help() string {
	return `Examples:

  purser buckets`
}

// Run prints the buckets.
func (c *bucketsCommand) Run(ctx context.Context, around *surroundings) error {
	server, err := c.connect(ctx, around)
	if err != nil {
		return err
	}
	items, _, err := server.List(ctx, maxListed, nil, "buckets")
	if err != nil {
		return err
	}
	buckets, err := decodeAll[client.Bucket](items)
	if err != nil {
		return err
	}
	rows, names := [][]string{{"BUCKET", "DOCUMENTS", "REVISION", "AT", "USER", "MESSAGE"}}, []string{}
	for _, b := range buckets {
		names = append(names, b.Name)
		rows = append(rows, []string{
			b.Name, strconv.Itoa(b.Documents), strconv.FormatInt(b.Revision, 10), dash(moment(b.ChangedAt)), dash(b.User),
			b.Message,
		})
	}
	return c.print(around, shown{listText(items), names, func(w io.Writer) { columns(w, rows) }})
}

// whoamiCommand prints the caller as the server has authenticated it.
type whoamiCommand struct {
	remote
	output
}

// Help returns the end of the command's help.
func (*whoamiCommand) Help() string {
	return `Examples:

  purser whoami`
}

// Run prints the caller's identity on the server.
func (c *whoamiCommand) Run(ctx context.Context, around *surroundings) error {
	server, err := c.connect(ctx, around)
	if err != nil {
		return err
	}
	var caller client.Caller
	text, err := server.Get(ctx, &caller, nil, "whoami")
	if err != nil {
		return err
	}
	return c.print(around, shown{text, []string{caller.User.ID}, func(w io.Writer) {
		columns(w, [][]string{
			{"server", server.Server},
			{"user", dash(caller.User.Name), caller.User.ID},
			{"roles", dash(strings.Join(caller.Roles, ", "))},
			{"project", dash(caller.Project)},
		})
		if len(caller.Rules) == 0 {
			fmt.Fprintln(w, "rules that you pass: none; the policy file of the server says which roles pass which")
			return
		}
		fmt.Fprintln(w, "rules that you pass:")
		for _, rule := range caller.Rules {
			fmt.Fprintln(w, words.Line("  "+rule))
		}
	}})
}

// tokenCommand prints the token.
type tokenCommand struct{ remote }

// Help returns the end of the command's help.
func (*tokenCommand) Help() string {
	return `Prints the token found in the flags, the environment or the configuration file.

  curl -H "X-Auth-Token: $(purser token)" "$url"`
}

// Run prints the token.
func (c *tokenCommand) Run(ctx context.Context, around *surroundings) error {
	_, token, err := c.resolve(ctx, around)
	if err == nil && token == "" {
		err = errors.New("no token: set PURSER_TOKEN or --token-file, or name one in the configuration file")
	}
	if err != nil {
		return err
	}
	return write(around, token)
}
