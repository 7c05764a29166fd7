package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// logCommand lists revisions, or the changes of a document.
type logCommand struct {
	remote
	output

	Document *documentName `help:"The changes of this document, with their differences, instead of revisions." placeholder:"SCHEMA/NAME" values:"documents"`
	Layer    string        `help:"With --document: its layer, if it has one." placeholder:"LAYER" values:"layers"`
	Tag      []string      `help:"Only revisions with this tag." sep:"none" values:"tags"`
	Limit    int           `default:"20" help:"Maximum number, newest first." short:"n"`
}

// Run prints the newest revisions, or the changes of a document.
func (c *logCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	if c.Document != nil {
		return c.history(ctx, around, server)
	}
	query := url.Values{"sort": {"id"}, "order": {"desc"}}
	if len(c.Tag) > 0 {
		query["tag"] = c.Tag
	}
	revisions, err := listOf[wire.Revision](ctx, server, c.Limit, query, "revisions")
	if err != nil {
		return err
	}
	return c.print(around, revisionList(revisions, around.colors))
}

// history prints the changes of a document.
func (c *logCommand) history(ctx context.Context, around *surroundings, server *client.Client) error {
	path := append([]string{"documents"}, strings.Split(c.Document.Schema, "/")...)
	path = append(path, cmp.Or(c.Layer, "-"), c.Document.Name, "history")
	changes, err := listOf[wire.DocumentChange](ctx, server, c.Limit, nil, path...)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusNotFound && c.Layer == "" {
		return fmt.Errorf("%w\nIf it has a layer, add --layer", err)
	}
	if err != nil {
		return err
	}
	return c.print(around, documentHistory(changes, around.colors))
}

// revisionList returns a list of revisions.
func revisionList(revisions list[wire.Revision], colors bool) answer {
	rows, names := [][]string{{"REVISION", "STATUS", "AT", "USER", "BUCKETS", "TAGS", "MESSAGE"}}, []string{}
	for _, r := range revisions.items {
		what := string(r.Message)
		if r.RolledBackTo != nil {
			what = strings.TrimSuffix(fmt.Sprintf("rollback to %d: %s", *r.RolledBackTo, what), ": ")
		}
		names = append(names, strconv.FormatInt(r.ID, 10))
		rows = append(rows, []string{
			strconv.FormatInt(r.ID, 10), verdictWord(r.Status), moment(r.CreatedAt), dash(r.User),
			dash(strings.Join(r.Buckets, ",")), dash(strings.Join(r.Tags.Names, ",")), what,
		})
	}
	return answer{revisions.text(), names, paintedTable(rows, 1, colors)}
}

// documentHistory returns the changes of a document, with their differences.
func documentHistory(changes list[wire.DocumentChange], colors bool) answer {
	var names []string
	var b strings.Builder
	for _, change := range changes.items {
		names = append(names, strconv.FormatInt(change.Revision, 10))
		fmt.Fprintln(&b, words.Line(fmt.Sprintf("revision %d  %s  %s  %s  %s", change.Revision, moment(change.ChangedAt),
			dash(change.User), change.Change, change.Message)))
		b.WriteString(indented(change.Diff, colors))
	}
	return answer{changes.text(), names, b.String()}
}
