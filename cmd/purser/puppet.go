package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"purser/internal/check"
	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// puppetCommand overrides Puppet resources.
type puppetCommand struct {
	Apply puppetApplyCommand `cmd:"" help:"Print a compiled catalog with the overrides of a revision."`
	Diff  puppetDiffCommand  `cmd:"" help:"Print how overrides differ between two revisions."`
}

// machine holds the flags that describe a machine.
type machine struct {
	Node    string `help:"Name of the machine; selects overrides by their label node."  placeholder:"NAME"`
	Role    string `help:"Its role; selects overrides by their label role."                                                  placeholder:"ROLE"`
	Cluster string `help:"Its cluster; selects overrides by their label cluster."                                            placeholder:"NAME"`
}

func (n machine) query() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{"node": n.Node, "role": n.Role, "cluster": n.Cluster} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// puppetApplyCommand overrides a catalog.
type puppetApplyCommand struct {
	remote
	output
	machine

	Catalog string `arg:"" complete:"file" help:"File with the output of puppet catalog compile NODE --render-as json; - for standard input."`
	revisionArgument

	Report  bool   `help:"Print the updated, created and skipped resources with reasons, instead of the catalog." xor:"what"`
	Explain string `help:"Print the documents that set each parameter of a resource, such as File[/etc/motd]." placeholder:"RESOURCE" xor:"what"`
}

// Run prints the catalog with its overrides applied.
func (c *puppetApplyCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	catalog, err := readCatalog(around, c.Catalog)
	if err != nil {
		return err
	}
	revision, err := server.Resolve(ctx, c.Revision)
	if err != nil {
		return err
	}
	query := c.query()
	if c.Report {
		query.Set("report", "true")
	}
	if c.Explain != "" {
		query.Set("explain", c.Explain)
	}
	request := client.Request{
		Method: http.MethodPost, Path: []string{"revisions", revision, "puppet", "catalog"}, Query: query, Body: catalog,
		Question: true,
	}
	if len(query) == len(c.query()) {
		text, err := server.Send(ctx, request, nil)
		if err != nil {
			return err
		}
		return write(around, words.PrintableJSON(string(text)))
	}
	var report wire.Report
	text, err := server.Send(ctx, request, &report)
	if err != nil {
		return err
	}
	return c.print(around, puppetReport(text, report))
}

// readCatalog reads a catalog from a file, or from standard input if name is "-".
func readCatalog(around *surroundings, name string) (text []byte, err error) {
	if name == "-" {
		text, err = io.ReadAll(around.stdin)
	} else {
		text, err = os.ReadFile(name) //nolint:gosec // the user names it
	}
	if err != nil {
		return nil, fmt.Errorf("read the catalog: %w", check.AboutPath(name, err))
	}
	return text, nil
}

// puppetDiffCommand compares the overrides of two revisions.
type puppetDiffCommand struct {
	remote
	output
	machine

	Before  string `arg:"" help:"Revision: 17, latest, tag:NAME, or latest~1, the one before latest; 0 for no documents." values:"revisions"`
	After   string `arg:"" help:"Revision to compare with." values:"revisions"`
	Catalog string `arg:"" complete:"file" default:"" help:"File with a compiled catalog; - for standard input. Without it, the data for Hiera is compared."`
}

// Run prints how the overrides of the two revisions differ.
func (c *puppetDiffCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	request := client.Request{Query: c.query()}
	var err error
	if c.Catalog != "" {
		request.Method, request.Question = http.MethodPost, true
		if request.Body, err = readCatalog(around, c.Catalog); err != nil {
			return err
		}
	}
	before, after, err := server.Numbers(ctx, c.Before, c.After)
	if err != nil {
		return err
	}
	request.Path = []string{"revisions", before, "puppet", "diff", after}
	var found wire.OverrideDifferences
	text, err := server.Send(ctx, request, &found)
	if err != nil {
		return err
	}
	return c.print(around, puppetDifferences(text, found))
}

// puppetReport returns the report on an overridden catalog.
func puppetReport(text []byte, report wire.Report) answer {
	var names []string
	var b strings.Builder
	entry := func(what, resource string, by wire.OverrideName, more string) {
		fmt.Fprintf(&b, "%-8s %s  %s  %s\n", what, words.Line(resource), words.Line(by.String()), words.Line(more))
	}
	for _, change := range report.Changes {
		names = append(names, change.Resource)
		var set []string
		for _, p := range change.Parameters {
			if p.Value != nil {
				p.Name += "=" + string(p.Value)
			}
			set = append(set, p.Name)
		}
		entry(change.Action, change.Resource, change.By, strings.Join(set, ", "))
	}
	for _, skip := range report.Skipped {
		entry("skipped", skip.Resource, skip.By, skip.Reason)
	}
	for _, warning := range report.Warnings {
		entry("warning", warning.Resource, warning.By, warning.Message)
	}
	return answer{text, names, b.String()}
}

// puppetDifferences returns how the overrides of two revisions differ.
func puppetDifferences(text []byte, found wire.OverrideDifferences) answer {
	var names []string
	var b strings.Builder
	for _, resource := range found.Resources {
		names = append(names, resource.Resource)
		fmt.Fprintf(&b, "%-8s %s\n", resource.Change, words.Line(resource.Resource))
		for _, altered := range resource.Parameters {
			fmt.Fprintf(&b, "  %s\n", words.Line(alteredText(altered)))
		}
	}
	for _, option := range found.Options {
		fmt.Fprintf(&b, "option   %s\n", words.Line(alteredText(option)))
	}
	return answer{text, names, b.String()}
}

// alteredText formats a differing parameter.
func alteredText(a wire.Altered) string {
	side := func(value json.RawMessage) string { return dash(string(value)) }
	if a.Sensitive {
		return a.Name + ": (sensitive)"
	}
	return a.Name + ": " + side(a.From) + " -> " + side(a.To)
}
