package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strconv"

	"purser/cmd/purser/internal/folder"
	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// selected holds the flags of commands that print documents.
type selected struct {
	remoteRevision

	Output string   `default:"yaml" enum:"yaml,json,table,name" help:"Output format: yaml (default), json, table or name." placeholder:"FORM" short:"o"`
	Schema []string `help:"Only documents of this schema, such as acme/Host/v1, or with this beginning of a schema." sep:"none" values:"schemas"`
	Name   []string `help:"Only documents of this name."       sep:"none" values:"names"`
	Layer  []string `help:"Only documents of this layer."      sep:"none" values:"layers"`
	Bucket []string `help:"Only documents of this bucket."     sep:"none" values:"buckets"`
	Label  []string `help:"Only documents with this label." placeholder:"KEY=VALUE" sep:"none"`
	Redact bool     `help:"Print hashes instead of secrets."`
}

func (c *selected) query() url.Values {
	query := url.Values{}
	for name, values := range map[string][]string{
		"schema": c.Schema, "metadata.name": c.Name, "metadata.layeringDefinition.layer": c.Layer,
		"status.bucket": c.Bucket, "metadata.label": c.Label,
	} {
		if len(values) > 0 {
			query[name] = values
		}
	}
	if c.Redact {
		query.Set("cleartext-secrets", "false")
	}
	return query
}

// print prints documents of a revision.
func (c *selected) print(ctx context.Context, around *surroundings, server opened, query url.Values,
	what string,
) error {
	request := client.Request{Path: []string{"revisions", server.revision, what}, Query: query}
	if c.Output == "yaml" {
		request.Accept = client.YAML
	}
	answer, err := server.Do(ctx, request)
	if err != nil {
		return err
	}
	searched := answer.Header.Get("Purser-Searched")
	if len(bytes.TrimSpace(answer.Body)) <= len("[]") && len(query) > 0 && searched == "" {
		fmt.Fprintln(around.stderr, "purser: no document matches")
	}
	if searched != "" {
		fmt.Fprintf(around.stderr, "purser: the first %s documents were searched, and others may match: select fewer, by "+
			"--schema, --bucket or --label, or go on with --searched %[1]s\n", searched)
	}
	if c.Output == "yaml" || c.Output == "json" {
		return write(around, words.PrintableJSON(string(answer.Body)))
	}
	documents, err := folder.Parse(answer.Body)
	if err != nil {
		return err
	}
	identities := make([]wire.Identity, len(documents))
	for i, doc := range documents {
		identities[i] = doc.Identity
	}
	return write(around, documentList(identities).in(c.Output))
}

// showCommand prints documents as they were put.
type showCommand struct {
	selected

	Search   string `help:"Only documents with this text in a name, a label or a value. It looks at 10,000 documents." placeholder:"TEXT"`
	Searched int    `help:"Continue a search after this number of documents." placeholder:"N"`
}

// Run prints the submitted documents.
func (c *showCommand) Run(ctx context.Context, around *surroundings, server opened) error {
	query := c.query()
	if c.Search != "" {
		query.Set("search", c.Search)
	}
	if c.Searched > 0 {
		query.Set("searched", strconv.Itoa(c.Searched))
	}
	return c.print(ctx, around, server, query, "documents")
}

// renderCommand prints rendered documents.
type renderCommand struct{ selected }

// Run prints the rendered documents.
func (c *renderCommand) Run(ctx context.Context, around *surroundings, server opened) error {
	return c.print(ctx, around, server, c.query(), "rendered-documents")
}

// explainCommand prints where the values of a rendered document come from.
type explainCommand struct {
	remote

	Document documentName `arg:""           help:"Document: SCHEMA/NAME, such as acme/Service/v1/api." values:"documents"`
	Path     string       `arg:""           default:"."                                                 help:"Path of a value in its data, such as .log.level."`
	Revision string       `default:"latest" help:"Revision: 17, latest (default), tag:NAME, or latest~1, the one before latest."           placeholder:"REV"                                       short:"r" values:"revisions"`
	Layer    string       `help:"Layer of the document, if others have its name." placeholder:"LAYER" values:"layers"`
	Output   string       `default:"text"   enum:"text,table,json,yaml"                                help:"Output format: text or table (default), json or yaml."   placeholder:"FORM" short:"o"`
}

// Run prints where the values of the document come from.
func (c *explainCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	revision, err := server.Resolve(ctx, c.Revision)
	if err != nil {
		return err
	}
	query := url.Values{"schema": {c.Document.Schema}, "name": {c.Document.Name}, "path": {c.Path}}
	if c.Layer != "" {
		query.Set("layer", c.Layer)
	}
	answer, err := server.Do(ctx, client.Request{
		Path: []string{"revisions", revision, "rendered-documents", "explain"}, Query: query,
		Accept: map[string]string{"text": client.Text, "json": client.JSON, "yaml": client.YAML}[textForTable(c.Output)],
	})
	if err != nil {
		return fmt.Errorf("explain %s/%s: %w", c.Document.Schema, c.Document.Name, err)
	}
	if textForTable(c.Output) == "text" {
		return write(around, string(answer.Body))
	}
	return write(around, words.PrintableJSON(string(answer.Body)))
}

// documentList returns a list of documents by their identities.
func documentList(documents []wire.Identity) answer {
	rows, names := [][]string{{"SCHEMA", "LAYER", "NAME", "BUCKET"}}, []string{}
	for _, doc := range documents {
		names = append(names, doc.Schema+"/"+doc.Name)
		rows = append(rows, []string{doc.Schema, dash(doc.Layer), doc.Name, string(doc.Bucket)})
	}
	return answer{names: names, text: table(rows)}
}
