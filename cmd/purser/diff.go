package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
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

// diffCommand prints the differences between the documents of two revisions.
type diffCommand struct {
	remote

	Before   string   `arg:"" help:"Revision: 17, latest, tag:NAME, or latest~1, the one before latest; 0 for no documents." values:"revisions"`
	After    string   `arg:"" default:"latest" help:"Revision to compare with; default: latest." values:"revisions"`
	Document []string `help:"Only documents of this name, or of this schema and name; also written after --." placeholder:"[SCHEMA/]NAME" sep:"none" values:"documents"`
	Rendered bool     `help:"Compare rendered documents instead of submitted ones, and show each difference once, with all documents that have it."`
	ExitCode bool     `help:"Exit with 1 if the documents differ."`
	Stat     bool     `help:"Print how many lines of each document differ."                                                                                             xor:"form"`
	Format   string   `aliases:"output" default:"" enum:",unified,grouped,side,json-patch,table,name,json,yaml" formerly:"f" help:"Format: unified (default), grouped (each difference once; default with --rendered), side (by side) or json-patch; or a list of the documents that differ: table, name, json or yaml." placeholder:"FORM" short:"o"`
	Width    int      `help:"Width of --format side, in characters; default: that of the terminal, or 160." placeholder:"N"`
}

// Validate refuses two formats.
func (c *diffCommand) Validate() error {
	if c.Stat && c.Format != "" && c.Format != "unified" {
		return fmt.Errorf("--stat is a format of its own: leave --format %s out", c.Format)
	}
	return nil
}

// Run prints the differences between the two revisions.
func (c *diffCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	before, after, err := server.Numbers(ctx, c.Before, c.After)
	if err != nil {
		return err
	}
	c.Before, c.After = before, after
	all := []extent{{0, -1}}
	if len(c.Document) > 0 {
		if all, err = c.find(ctx, server); err != nil {
			return err
		}
		if len(all) == 0 {
			fmt.Fprintln(around.stderr, "purser: no document that differs has such a name: "+strings.Join(c.Document, ", "))
		}
	}
	text, differ, err := c.text(ctx, around, server, all)
	if err == nil {
		err = write(around, text)
	}
	if err == nil && differ && c.ExitCode {
		return no("")
	}
	return err
}

// text returns the differences of the documents at some places in the list of those that differ, in the format of the
// command, and whether there are any.
func (c *diffCommand) text(ctx context.Context, around *surroundings, server *client.Client, at []extent) (
	text string, differ bool, err error,
) {
	if c.Format == "grouped" || c.Format == "" && c.Rendered && !c.Stat {
		text, differ, err = c.grouped(ctx, server, at, around.colors)
		if refused, ok := errors.AsType[*client.Error](err); c.Format != "" || !ok ||
			refused.Status != http.StatusBadRequest {
			return text, differ, err
		} // an older server
	}
	switch c.Format {
	case "json-patch":
		parts, err := c.parts(ctx, server, at, c.Format, client.Patch)
		if err != nil {
			return "", false, err
		}
		return patchesOf(parts)
	case "table", "name", "json", "yaml":
		listed, err := c.list(ctx, server, at)
		return differingList(listed).in(c.Format), len(listed) > 0, err
	}
	parts, err := c.parts(ctx, server, at, "unified", client.Text)
	text = string(bytes.Join(parts, nil))
	differ = text != ""
	switch {
	case c.Stat:
		text = statText(text, around.colors)
	case c.Format == "side":
		text = sideBySide(text, cmp.Or(c.Width, around.width, 160), around.colors)
	default:
		text = unifiedText(text, around.colors)
	}
	return text, differ, err
}

// grouped returns each difference with the documents that have it, at some places in the list of those that differ.
// It fails if a revision cannot be rendered, because the revisions may differ in what was not compared.
func (c *diffCommand) grouped(ctx context.Context, server *client.Client, at []extent, colors bool) (
	text string, differ bool, err error,
) {
	parts, err := c.parts(ctx, server, at, "grouped", client.JSON)
	if err != nil {
		return "", false, err
	}
	var b strings.Builder
	for _, part := range parts {
		var rendered wire.Rendered
		if err := (client.Answer{Body: part}).Decode(&rendered); err != nil {
			return "", false, err
		}
		for _, side := range rendered.Unrendered {
			return "", false, fmt.Errorf("revision %d cannot be rendered: %s; purser diff without --rendered compares what was "+
				"submitted", side.Revision, side.Message)
		}
		differ = differ || rendered.Count > 0
		b.WriteString(differencesText(rendered, colors))
	}
	return b.String(), differ, nil
}

// patchesOf returns lists of JSON patches as one list, and whether it has any.
func patchesOf(parts [][]byte) (text string, differ bool, err error) {
	patches := []json.RawMessage{}
	for _, part := range parts {
		var some []json.RawMessage
		if err := (client.Answer{Body: part}).Decode(&some); err != nil {
			return "", false, err
		}
		patches = append(patches, some...)
	}
	if len(parts) == 1 {
		return words.PrintableJSON(string(parts[0])), len(patches) > 0, nil
	}
	return words.PrintableJSON(string(marshal(patches))), len(patches) > 0, nil
}

// extent is a range of the list of documents that differ; all from the first if count is negative.
type extent struct{ first, count int }

// parts requests the differences of the documents in each extent, in a format and media type of the API.
func (c *diffCommand) parts(ctx context.Context, server *client.Client, at []extent, format, accept string) (
	parts [][]byte, err error,
) {
	for _, part := range at {
		query := url.Values{"format": {format}, "rendered": {strconv.FormatBool(c.Rendered)}}
		if part.count >= 0 {
			query.Set("offset", strconv.Itoa(part.first))
			query.Set("limit", strconv.Itoa(part.count))
		}
		if format == "grouped" {
			query.Set("diff", "unified")
		}
		answer, err := server.Do(ctx, client.Request{
			Path: []string{"revisions", c.Before, "deepdiff", c.After}, Query: query, Accept: accept,
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, answer.Body)
	}
	return parts, nil
}

// list lists the documents that differ.
func (c *diffCommand) list(ctx context.Context, server *client.Client, at []extent) (
	all []wire.Difference, err error,
) {
	parts, err := c.parts(ctx, server, at, "documents", client.JSON)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		var found wire.List[wire.Difference]
		if err := (client.Answer{Body: part}).Decode(&found); err != nil {
			return nil, err
		}
		all = append(all, found.Results...)
	}
	return all, nil
}

// maxExtents bounds the requests of a comparison.
const maxExtents = 100

// find returns where the documents of the flag --document are in the list of those that differ.
func (c *diffCommand) find(ctx context.Context, server *client.Client) (at []extent, err error) {
	listed, err := c.list(ctx, server, []extent{{0, -1}})
	wanted := map[string]bool{}
	for _, name := range c.Document {
		wanted[name] = true
	}
	for i, d := range listed {
		switch last := len(at) - 1; {
		case !wanted[d.Name] && !wanted[d.Schema+"/"+d.Name]:
		case last >= 0 && at[last].first+at[last].count == i:
			at[last].count++
		default:
			at = append(at, extent{i, 1})
		}
	}
	if err == nil && len(at) > maxExtents {
		err = fmt.Errorf("more than %d documents that differ have such names: name their schemas too, or fewer of them",
			maxExtents)
	}
	return at, err
}

// differingList returns a list of documents that differ.
func differingList(differences []wire.Difference) answer {
	rows, names := [][]string{{"CHANGE", "BUCKET", "SCHEMA", "LAYER", "NAME"}}, []string{}
	for _, d := range differences {
		names = append(names, d.Schema+"/"+d.Name)
		rows = append(rows, []string{d.Change, d.Bucket, d.Schema, dash(d.Layer), d.Name})
	}
	list := wire.List[wire.Difference]{Count: len(differences), Results: append([]wire.Difference{}, differences...)}
	return answer{marshal(list), names, table(rows)}
}
