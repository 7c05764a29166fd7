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
	at

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
func (c *puppetApplyCommand) Run(ctx context.Context, around *surroundings) error {
	catalog, err := readCatalog(around, c.Catalog)
	if err != nil {
		return err
	}
	in := &reading{remote: c.remote, at: c.at}
	server, revision, err := in.open(ctx, around)
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
	var report puppetReport
	if err := decode(answer.Body, &report); err != nil {
		return err
	}
	return c.print(around, shown{answer.Body, report.names(), report.table})
}

// readCatalog reads a catalog from a file, or from standard input if name is "-".
func readCatalog(around *surroundings, name string) (text []byte, err error) {
	if name == "-" {
		text, err = io.ReadAll(around.stdin)
	} else {
		text, err = os.ReadFile(name) //nolint:gosec // the user names it
	}
	if err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	return text, nil
}

// puppetReport is the server's report on an overridden catalog.
type puppetReport struct {
	Changes []struct {
		puppetEntry

		Action     string `json:"action"`
		Parameters []struct {
			Name  string          `json:"name"`
			Value json.RawMessage `json:"value"`
		} `json:"parameters"`
	} `json:"changes"`
	Skipped []struct {
		puppetEntry

		Reason string `json:"reason"`
	} `json:"skipped"`
	Warnings []struct {
		puppetEntry

		Message string `json:"message"`
	} `json:"warnings"`
}

// puppetEntry is a resource and the document that the report relates it to.
type puppetEntry struct {
	Resource string          `json:"resource"`
	By       client.Identity `json:"by"`
}

func (r puppetReport) names() (names []string) {
	for _, change := range r.Changes {
		names = append(names, change.Resource)
	}
	return names
}

func (r puppetReport) table(w io.Writer) {
	entry := func(what string, e puppetEntry, more string) {
		fmt.Fprintf(w, "%-8s %s  %s  %s\n", what, words.Line(e.Resource), words.Line(e.By.String()), words.Line(more))
	}
	for _, change := range r.Changes {
		var set []string
		for _, p := range change.Parameters {
			if p.Value != nil {
				p.Name += "=" + string(p.Value)
			}
			set = append(set, p.Name)
		}
		entry(change.Action, change.puppetEntry, strings.Join(set, ", "))
	}
	for _, skip := range r.Skipped {
		entry("skipped", skip.puppetEntry, skip.Reason)
	}
	for _, warning := range r.Warnings {
		entry("warning", warning.puppetEntry, warning.Message)
	}
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
func (c *puppetDiffCommand) Run(ctx context.Context, around *surroundings) error {
	request := client.Request{Query: c.query()}
	var err error
	if c.Catalog != "" {
		request.Method, request.Question = http.MethodPost, true
		if request.Body, err = readCatalog(around, c.Catalog); err != nil {
			return err
		}
	}
	server, err := c.connect(ctx, around)
	if err != nil {
		return err
	}
	before, after, err := server.Numbers(ctx, c.Before, c.After)
	if err != nil {
		return err
	}
	request.Path = []string{"revisions", before, "puppet", "diff", after}
	var found puppetDifferences
	text, err := server.Send(ctx, request, &found)
	if err != nil {
		return err
	}
	return c.print(around, shown{text, found.names(), found.table})
}

// puppetDifferences are the differences between two revisions in the overrides of resources.
type puppetDifferences struct {
	Resources []struct {
		Resource   string          `json:"resource"`
		Change     string          `json:"change"`
		Parameters []puppetAltered `json:"parameters"`
	} `json:"resources"`
	Options []puppetAltered `json:"options"`
}

type puppetAltered struct {
	Name      string          `json:"name"`
	From      json.RawMessage `json:"from"`
	To        json.RawMessage `json:"to"`
	Sensitive bool            `json:"sensitive"`
}

func (a puppetAltered) String() string {
	side := func(value json.RawMessage) string { return dash(string(value)) }
	if a.Sensitive {
		return a.Name + ": (sensitive)"
	}
	return a.Name + ": " + side(a.From) + " -> " + side(a.To)
}

func (d puppetDifferences) names() (names []string) {
	for _, resource := range d.Resources {
		names = append(names, resource.Resource)
	}
	return names
}

func (d puppetDifferences) table(w io.Writer) {
	for _, resource := range d.Resources {
		fmt.Fprintf(w, "%-8s %s\n", resource.Change, words.Line(resource.Resource))
		for _, altered := range resource.Parameters {
			fmt.Fprintf(w, "  %s\n", words.Line(altered.String()))
		}
	}
	for _, option := range d.Options {
		fmt.Fprintf(w, "option   %s\n", words.Line(option.String()))
	}
}
