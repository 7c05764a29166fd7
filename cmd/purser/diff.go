package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"purser/internal/client"
	"purser/internal/diff"
	"purser/internal/document"
)

// diffCommand prints the differences between the documents of two revisions.
type diffCommand struct {
	remote

	Before   string `arg:"" help:"Revision: 17, latest, tag:NAME, latest~1; 0 for no documents."`
	After    string `arg:"" default:"latest" help:"Revision."`
	Rendered bool   `help:"Compare the rendered documents."`
	Format   string `default:"unified" enum:"unified,side,json-patch" help:"Form: unified, side (by side) or json-patch." placeholder:"FORM" short:"f"`
	Width    int    `help:"Width of --format side, in characters; without it that of the terminal, or 160."`
}

// Help is called by kong.
func (*diffCommand) Help() string {
	return `Examples:

  purser diff latest~1                  # what the newest revision has changed
  purser diff tag:good latest --rendered -f side`
}

// Run is called by kong.
func (c *diffCommand) Run(ctx context.Context, around *surroundings) error {
	server, err := c.connect(ctx, around)
	if err != nil {
		return err
	}
	before, after, err := server.Numbers(ctx, c.Before, c.After)
	if err != nil {
		return err
	}
	text, err := c.text(ctx, server, before, after)
	if err != nil {
		return err
	}
	switch {
	case c.Format == "json-patch":
	case c.Format == "side":
		text = sideBySide(client.Printable(text), cmp.Or(c.Width, around.width, 160), around.colors)
	case around.colors:
		text = coloredDiff(client.Printable(text))
	default:
		text = client.Printable(text)
	}
	return write(around, text)
}

// text returns the differences as a unified diff, or as JSON patches.
func (c *diffCommand) text(ctx context.Context, server *client.Client, before, after string) (string, error) {
	if c.Rendered {
		return c.rendered(ctx, server, before, after)
	}
	request := client.Request{
		Path: []string{"revisions", before, "deepdiff", after}, Query: url.Values{"format": {"unified"}}, Accept: client.Text,
	}
	if c.Format == "json-patch" {
		request.Query, request.Accept = url.Values{"format": {"json-patch"}}, client.Patch
	}
	answer, err := server.Do(ctx, request)
	return string(answer.Body), err
}

// rendered compares the rendered documents of two revisions. The server has no such comparison.
func (c *diffCommand) rendered(ctx context.Context, server *client.Client, before, after string) (string, error) {
	old, err := renderedOf(ctx, server, before)
	if err != nil {
		return "", err
	}
	fresh, err := renderedOf(ctx, server, after)
	if err != nil {
		return "", err
	}
	ids := maps.Clone(old)
	maps.Copy(ids, fresh)
	var text strings.Builder
	patches := []any{}
	for _, id := range slices.SortedFunc(maps.Keys(ids), func(a, b client.Identity) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Layer, b.Layer))
	}) {
		if c.Format == "json-patch" {
			patch, err := patchOf(ctx, id, old[id], fresh[id])
			if err != nil {
				return "", err
			}
			if patch != nil {
				patches = append(patches, patch)
			}
			continue
		}
		changes, err := difference(ctx, titleOf(before, old[id]), titleOf(after, fresh[id]), old[id], fresh[id])
		if err != nil {
			return "", err
		}
		text.WriteString(changes)
	}
	if c.Format == "json-patch" {
		return string(document.AppendJSON(nil, patches)), nil
	}
	return text.String(), nil
}

// renderedOf returns the rendered documents of a revision. Revision 0 has none.
func renderedOf(ctx context.Context, server *client.Client, revision string) (map[client.Identity]*stored, error) {
	if revision == "0" {
		return nil, nil
	}
	// Request hashes in place of secrets. They show whether a secret has changed, but not the secret.
	query := url.Values{"cleartext-secrets": {"false"}}
	text, err := server.Get(ctx, nil, query, "revisions", revision, "rendered-documents")
	if err != nil {
		return nil, fmt.Errorf("revision %s: %w", revision, err)
	}
	list, err := documentsOf(text)
	if err != nil {
		return nil, err
	}
	documents := map[client.Identity]*stored{}
	for i := range list {
		list[i].encrypted = false // the data is a hash
		documents[key(list[i].Identity)] = &list[i]
	}
	return documents, nil
}

func titleOf(revision string, doc *stored) string {
	if doc == nil {
		return "/dev/null"
	}
	return cellOf(fmt.Sprintf("revision %s, rendered: %s", revision, doc))
}

// patchOf returns the JSON patch of a document in the server's form, nil if the document has not changed.
func patchOf(ctx context.Context, id client.Identity, before, after *stored) (any, error) {
	change := "modified"
	var patch []any
	var err error
	switch {
	case before == nil:
		change = "created"
		patch = []any{document.Mapping{
			{Key: "op", Value: "add"}, {Key: "path", Value: ""}, {Key: "value", Value: after.value(false)},
		}}
	case after == nil:
		change = "deleted"
		patch = []any{document.Mapping{{Key: "op", Value: "remove"}, {Key: "path", Value: ""}}}
	default:
		patch, err = diff.Patch(ctx, before.value(false), after.value(false))
	}
	if err != nil || len(patch) == 0 {
		return nil, wrapped(err, "compare documents")
	}
	var layer any
	if id.Layer != "" {
		layer = id.Layer
	}
	return document.Mapping{
		{Key: "bucket", Value: cmp.Or(after, before).Bucket},
		{Key: "change", Value: change},
		{Key: "layer", Value: layer},
		{Key: "name", Value: id.Name},
		{Key: "patch", Value: patch},
		{Key: "schema", Value: id.Schema},
	}, nil
}

func wrapped(err error, what string) error {
	if err == nil {
		return nil
	}
	return errors.Join(errors.New(what), err)
}
