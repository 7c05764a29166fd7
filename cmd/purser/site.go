package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// bucketsCommand lists the buckets.
type bucketsCommand struct {
	remote
	output
}

// Run prints the buckets.
func (c *bucketsCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	buckets, err := listOf[wire.Bucket](ctx, server, maxListed, nil, "buckets")
	if err != nil {
		return err
	}
	return c.print(around, bucketList(buckets))
}

// whoamiCommand prints the caller as the server has authenticated it.
type whoamiCommand struct {
	remote
	output
}

// Run prints the caller's identity on the server.
func (c *whoamiCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	var caller wire.Caller
	text, err := server.Get(ctx, &caller, nil, "whoami")
	if err != nil {
		return err
	}
	return c.print(around, callerAnswer(server.Server, server.Site, text, caller))
}

// tokenCommand prints the token.
type tokenCommand struct{ remote }

// Run prints the token.
func (c *tokenCommand) Run(ctx context.Context, around *surroundings) error {
	server, held, err := c.resolve(ctx, around)
	if err == nil && held.Token == "" {
		err = errors.New("there is no token. " + loginHint(ctx, c.Server, server.URL))
	}
	if err != nil {
		return err
	}
	return write(around, held.Token)
}

// bucketList returns a list of buckets.
func bucketList(buckets list[wire.Bucket]) answer {
	rows, names := [][]string{{"BUCKET", "DOCUMENTS", "REVISION", "AT", "USER", "MESSAGE"}}, []string{}
	for _, b := range buckets.items {
		names = append(names, b.Name)
		rows = append(rows, []string{
			b.Name, strconv.Itoa(b.Documents), strconv.FormatInt(b.Revision, 10), dash(moment(b.ChangedAt)), dash(b.User),
			string(b.Message),
		})
	}
	return answer{buckets.text(), names, table(rows)}
}

// callerAnswer returns the caller as a server has authenticated it, with the rights in a site, if that is named.
func callerAnswer(server, site string, text []byte, caller wire.Caller) answer {
	var b strings.Builder
	rows := [][]string{{"server", server}}
	if site != "" {
		rows = append(rows, []string{"site", site})
	}
	b.WriteString(table(append(rows, [][]string{
		{"user", dash(caller.User.Name), caller.User.ID},
		{"roles", dash(strings.Join(caller.Roles, ", "))},
		{"project", dash(caller.Project)},
	}...)))
	if len(caller.Rules)+len(caller.Depending) == 0 {
		b.WriteString("rights: none; the server's access rules say what each role may do\n")
	} else {
		b.WriteString("rights:\n")
	}
	for _, rule := range caller.Rules {
		fmt.Fprintln(&b, words.Line("  "+rule))
	}
	for _, rule := range caller.Depending {
		fmt.Fprintln(&b, words.Line("  "+rule)+" (depending on the validation or who made the revision)")
	}
	return answer{text, []string{caller.User.ID}, b.String()}
}
