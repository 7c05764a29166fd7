package main

import (
	"context"
	"errors"

	"purser/cmd/purser/internal/views"
	"purser/internal/client"
	"purser/internal/wire"
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
func (c *bucketsCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	items, _, err := server.List(ctx, maxListed, nil, "buckets")
	if err != nil {
		return err
	}
	buckets, err := views.Buckets(items)
	if err != nil {
		return err
	}
	return c.print(around, buckets)
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
func (c *whoamiCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	var caller wire.Caller
	text, err := server.Get(ctx, &caller, nil, "whoami")
	if err != nil {
		return err
	}
	return c.print(around, views.Caller(server.Server, text, caller))
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
