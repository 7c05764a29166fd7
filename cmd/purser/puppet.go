package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"purser/cmd/purser/internal/views"
	"purser/internal/check"
	"purser/internal/client"
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

// Help returns the end of the command's help.
func (*puppetApplyCommand) Help() string {
	return `Examples:

  puppet catalog compile cmp-1 --render-as json | purser puppet apply - --node cmp-1 | puppet apply --catalog -
  purser puppet apply compiled.json --report`
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
	answer, err := server.Do(ctx, client.Request{
		Method: http.MethodPost, Path: []string{"revisions", revision, "puppet", "catalog"}, Query: query, Body: catalog,
		Question: true,
	})
	if err != nil {
		return err
	}
	if !c.Report && c.Explain == "" {
		return write(around, words.PrintableJSON(string(answer.Body)))
	}
	report, err := views.PuppetReport(answer.Body)
	if err != nil {
		return err
	}
	return c.print(around, report)
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

	Before  string `arg:"" help:"Revision: 17, latest, tag:NAME, latest~1; 0 for no documents."`
	After   string `arg:"" help:"Revision."`
	Catalog string `arg:"" complete:"file" default:"" help:"File with a compiled catalog; - for standard input. Without it, the data for Hiera is compared."`
}

// Help returns the end of the command's help.
func (*puppetDiffCommand) Help() string {
	return `Examples:

  purser puppet diff latest~1 latest compiled.json --node cmp-1`
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
	answer, err := server.Do(ctx, request)
	if err != nil {
		return err
	}
	found, err := views.PuppetDifferences(answer.Body)
	if err != nil {
		return err
	}
	return c.print(around, found)
}
