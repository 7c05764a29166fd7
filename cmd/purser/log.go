package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"purser/cmd/purser/internal/difftext"
	"purser/internal/client"
	"purser/internal/words"
)

// logCommand lists revisions, or the changes of a document.
type logCommand struct {
	remote
	output

	Document *documentName `help:"The changes of this document, with their differences: SCHEMA/NAME." placeholder:"SCHEMA/NAME"`
	Layer    string        `help:"Layer of the document, if it has one."`
	Tag      []string      `help:"Only revisions with this tag." sep:"none"`
	Limit    int           `default:"20" help:"Maximum number, newest first." short:"n"`
}

// Help returns the end of the command's help.
func (*logCommand) Help() string {
	return `Examples:

  purser log -n 5                                            # the five newest revisions
  purser log --document acme/Host/v1/cmp-1 --layer site      # who changed a document, when and how`
}

// Run prints the newest revisions, or the changes of a document.
func (c *logCommand) Run(ctx context.Context, around *surroundings) error {
	server, err := c.connect(ctx, around)
	if err != nil {
		return err
	}
	if c.Document != nil {
		return c.history(ctx, around, server)
	}
	query := url.Values{"sort": {"id"}, "order": {"desc"}}
	if len(c.Tag) > 0 {
		query["tag"] = c.Tag
	}
	items, _, err := server.List(ctx, c.Limit, query, "revisions")
	if err != nil {
		return err
	}
	revisions, err := decodeAll[client.Revision](items)
	if err != nil {
		return err
	}
	rows, names := [][]string{{"REVISION", "STATUS", "AT", "USER", "BUCKETS", "TAGS", "MESSAGE"}}, []string{}
	for _, r := range revisions {
		what := r.Message
		if r.RolledBackTo != nil {
			what = strings.TrimSuffix(fmt.Sprintf("rollback to %d: %s", *r.RolledBackTo, what), ": ")
		}
		names = append(names, strconv.FormatInt(r.ID, 10))
		rows = append(rows, []string{
			strconv.FormatInt(r.ID, 10), verdictWord(r.Status), moment(r.CreatedAt), dash(r.User),
			dash(strings.Join(r.Buckets, ",")), dash(strings.Join(r.Tags, ",")), what,
		})
	}
	return c.print(around, shown{listText(items), names, func(w io.Writer) { columns(w, rows) }})
}

// history prints the changes of a document.
func (c *logCommand) history(ctx context.Context, around *surroundings, server *client.Client) error {
	path := append([]string{"documents"}, strings.Split(c.Document.Schema, "/")...)
	items, _, err := server.List(ctx, c.Limit, nil, append(path, dash(c.Layer), c.Document.Name, "history")...)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusNotFound && c.Layer == "" {
		return fmt.Errorf("%w\nIf it has a layer, add --layer", err)
	}
	if err != nil {
		return err
	}
	changes, err := decodeAll[client.DocumentChange](items)
	if err != nil {
		return err
	}
	var names []string
	for _, change := range changes {
		names = append(names, strconv.FormatInt(change.Revision, 10))
	}
	return c.print(around, shown{listText(items), names, func(w io.Writer) {
		for _, change := range changes {
			fmt.Fprintln(w, words.Line(fmt.Sprintf("revision %d  %s  %s  %s  %s", change.Revision, moment(change.ChangedAt),
				dash(change.User), change.Change, change.Message)))
			fmt.Fprint(w, difftext.Indented(change.Diff, around.colors))
		}
	}})
}
