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

	"purser/cmd/purser/internal/folder"
	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// logCommand lists revisions, or the changes of a document.
type logCommand struct {
	remote
	output

	Document *documentName `help:"The changes of this document, with their differences, instead of revisions." placeholder:"SCHEMA/NAME" values:"documents"`
	Layer    string        `help:"With --document: its layer, if several layers have one." placeholder:"LAYER" values:"layers"`
	Tag      []string      `help:"Only revisions with this tag." sep:"none" values:"tags"`
	Source   string        `help:"Only revisions that were made from this commit: its URL, or at least the first 7 digits of its id." placeholder:"URL|COMMIT"`
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
	if c.Source != "" {
		query.Set("source", c.Source)
	}
	revisions, err := listOf[wire.Revision](ctx, server, c.Limit, query, "revisions")
	if err != nil {
		return err
	}
	return c.print(around, revisionList(revisions, around.colors))
}

// history prints the changes of a document. Without --layer, it is the document without a layer, or else that of the
// newest revision.
func (c *logCommand) history(ctx context.Context, around *surroundings, server *client.Client) error {
	changes, err := c.changes(ctx, server, cmp.Or(c.Layer, "-"))
	refused, ok := errors.AsType[*client.Error](err)
	if ok && refused.Status == http.StatusNotFound && c.Layer == "" {
		switch layers := c.layers(ctx, server); len(layers) {
		case 0:
			return fmt.Errorf("%w\nIf it was in a layer, add --layer", err)
		case 1:
			changes, err = c.changes(ctx, server, layers[0])
		default:
			return fmt.Errorf("several layers have a document %s/%s: add --layer %s", c.Document.Schema, c.Document.Name,
				words.Line(strings.Join(layers, " or ")))
		}
	}
	if err != nil {
		return err
	}
	return c.print(around, documentHistory(changes, around.colors))
}

// changes returns the changes of the document in a layer; "-" stands for none.
func (c *logCommand) changes(ctx context.Context, server *client.Client, layer string) (
	list[wire.DocumentChange], error,
) {
	path := append([]string{"documents"}, strings.Split(c.Document.Schema, "/")...)
	path = append(path, layer, c.Document.Name, "history")
	return listOf[wire.DocumentChange](ctx, server, c.Limit, nil, path...)
}

// layers returns the layers where the newest revision has the document; none if they cannot be read.
func (c *logCommand) layers(ctx context.Context, server *client.Client) (layers []string) {
	query := url.Values{"schema": {c.Document.Schema}, "metadata.name": {c.Document.Name}}
	text, err := server.Get(ctx, nil, query, "revisions", "latest", "documents")
	if err != nil {
		return nil
	}
	documents, _ := folder.Parse(text)
	for _, doc := range documents {
		if doc.Schema == c.Document.Schema && doc.Layer != "" {
			layers = append(layers, string(doc.Layer))
		}
	}
	return layers
}

// revisionList returns a list of revisions.
func revisionList(revisions list[wire.Revision], colors bool) answer {
	rows, names := [][]string{{"REVISION", "STATUS", "AT", "USER", "BUCKETS", "TAGS", "MESSAGE"}}, []string{}
	for _, r := range revisions.items {
		what := sourcedMessage(r.Message, r.Source)
		if r.RolledBackTo != nil {
			what = strings.TrimSuffix(fmt.Sprintf("rollback to %d: %s", *r.RolledBackTo, what), ": ")
		}
		status := verdictWord(r.Status)
		if r.Waived > 0 {
			status += fmt.Sprintf(" (%d waived)", r.Waived)
		}
		names = append(names, strconv.FormatInt(r.ID, 10))
		rows = append(rows, []string{
			strconv.FormatInt(r.ID, 10), status, moment(r.CreatedAt), dash(r.User),
			dash(strings.Join(r.Buckets, ",")), dash(strings.Join(r.Tags.Names, ",")), what,
		})
	}
	return answer{revisions.text(), names, paintedTable(rows, 1, colors)}
}

// sourcedMessage returns a message with the URL of the commit that a change was made from, if that is known.
func sourcedMessage(message, source wire.Optional) string {
	return strings.TrimSpace(string(message + " " + source))
}

// documentHistory returns the changes of a document, with their differences.
func documentHistory(changes list[wire.DocumentChange], colors bool) answer {
	var names []string
	var b strings.Builder
	for _, change := range changes.items {
		names = append(names, strconv.FormatInt(change.Revision, 10))
		fmt.Fprintln(&b, words.Line(fmt.Sprintf("revision %d  %s  %s  %s  %s", change.Revision, moment(change.ChangedAt),
			dash(change.User), change.Change, sourcedMessage(change.Message, change.Source))))
		b.WriteString(indented(change.Diff, colors))
	}
	return answer{changes.text(), names, b.String()}
}
