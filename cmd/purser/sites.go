package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"purser/internal/client"
	"purser/internal/sites"
	"purser/internal/wire"
	"purser/internal/words"
)

// sitesCommand lists and changes the sites of a server.
type sitesCommand struct {
	List    sitesListCommand    `cmd:"" default:"withargs" help:"List the sites that you may see. This is what purser sites alone does."`
	Show    sitesShowCommand    `cmd:"" help:"Show a site, with its labels and limits."`
	Set     sitesSetCommand     `cmd:"" help:"Make a site, or change its labels and limits."`
	Archive sitesArchiveCommand `cmd:"" help:"Archive a site: it can be read, and takes no changes."`
	Open    sitesOpenCommand    `cmd:"" help:"Open an archived site again."`
	Delete  sitesDeleteCommand  `cmd:"" help:"Delete an archived site with all its revisions."`
}

// checkSite returns an error if a site cannot have a name; "" stands for no name.
func checkSite(name string) error {
	lower := strings.ToLower(name)
	switch {
	case name == "" || sites.IsName(name):
		return nil
	case name == client.AllSites:
		return fmt.Errorf("%s stands for all sites, which only work, claims and waivers list can be about: name one", name)
	case sites.IsName(lower):
		return fmt.Errorf("%q cannot be the name of a site: did you mean %s?", name, lower)
	}
	return fmt.Errorf("%q cannot be the name of a site: it has up to 63 lower-case letters, digits, dots, dashes and "+
		"underscores, and a letter or digit at both ends; purser sites lists them", name)
}

// siteArgument names a site.
type siteArgument struct {
	Name string `arg:"" help:"Name of the site." values:"sites"`
}

// Validate refuses a name that no site can have.
func (a siteArgument) Validate() error { return checkSite(a.Name) }

// remoteSites holds the flags of commands that can be about all sites at once.
type remoteSites struct {
	remote

	AllSites bool `help:"All sites that you may use, at once; --site - is the same."`
}

// ProvideClient returns a client as remote does, or one for all sites.
func (r *remoteSites) ProvideClient(ctx context.Context, around *surroundings) (*client.Client, error) {
	if r.AllSites || r.Site == client.AllSites {
		r.AllSites, r.Site = true, ""
	}
	server, err := r.remote.ProvideClient(ctx, around)
	if err != nil {
		return nil, err
	}
	if r.AllSites {
		server = server.At(client.AllSites)
	}
	r.AllSites = server.Site == client.AllSites // also by the server's URL
	return server, nil
}

// inSite returns the name of an item in a list, with its site if sited is set.
func inSite(site, name string, sited bool) string {
	if sited {
		return site + "/" + name
	}
	return name
}

// withSites returns rows with their first column, the sites, if sited is set, and else without it.
func withSites(rows [][]string, sited bool) [][]string {
	if sited {
		return rows
	}
	others := make([][]string, len(rows))
	for i, row := range rows {
		others[i] = row[1:]
	}
	return others
}

// sitesListCommand lists sites.
type sitesListCommand struct {
	remote
	output

	Label    []string `help:"Only sites with this label." placeholder:"KEY=VALUE" sep:"none" values:"labels"`
	Status   string   `default:"" enum:",success,failure" help:"Only sites whose newest revision is a success, or a failure." placeholder:"STATUS"`
	Archived bool     `help:"Only archived sites."`
	Sort     string   `default:"name" enum:"name,status,changedAt,documents" help:"Order: name (default), status, changedAt or documents." placeholder:"KEY"`
	Limit    int      `default:"0" help:"Maximum number; default: all." placeholder:"N" short:"n"`
}

// Validate refuses labels without a value.
func (c *sitesListCommand) Validate() error {
	_, err := labelsOf("--label", c.Label)
	return err
}

// Run prints the sites.
func (c *sitesListCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	query := url.Values{"sort": {c.Sort}}
	if len(c.Label) > 0 {
		query["label"] = c.Label
	}
	if c.Status != "" {
		query.Set("status", c.Status)
	}
	if c.Archived {
		query.Set("archived", "true")
	}
	most := c.Limit
	if most <= 0 {
		most = maxListed
	}
	found, err := listOf[wire.Site](ctx, server.Sites(), most, query)
	if err != nil {
		return err
	}
	return c.print(around, siteList(found, around.colors))
}

// sitesShowCommand shows a site.
type sitesShowCommand struct {
	remote
	output
	siteArgument
}

// Run prints the site.
func (c *sitesShowCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	var found wire.Site
	text, err := server.Sites().Get(ctx, &found, nil, c.Name)
	if err != nil {
		return err
	}
	return c.print(around, siteAnswer(text, found, around.colors))
}

// labelsOf returns labels that a flag gives as KEY=VALUE.
func labelsOf(flag string, pairs []string) (map[string]string, error) {
	labels := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		key, value, isPair := strings.Cut(pair, "=")
		if !isPair || key == "" {
			return nil, fmt.Errorf("%s %s: a label is KEY=VALUE, such as region=eu", flag, pair)
		}
		labels[key] = value
	}
	return labels, nil
}

// labelText returns labels as KEY=VALUE, with a comma between them.
func labelText(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return strings.Join(pairs, ",")
}

// siteList returns a list of sites.
func siteList(all list[wire.Site], colors bool) answer {
	rows, names := [][]string{{"NAME", "STATUS", "REVISION", "DOCUMENTS", "CHANGED", "LABELS"}}, []string{}
	for _, s := range all.items {
		names = append(names, s.Name)
		rows = append(rows, []string{
			s.Name, siteStatus(s), strconv.FormatInt(s.Revision, 10), strconv.FormatInt(s.Documents, 10),
			dash(moment(s.ChangedAt)), dash(labelText(s.Labels)),
		})
	}
	return answer{all.text(), names, paintedTable(rows, 1, colors)}
}

// siteStatus returns the status of the newest revision of a site, and whether the site is archived.
func siteStatus(s wire.Site) string {
	if s.Archived {
		return dash(s.Status) + " (archived)"
	}
	return dash(s.Status)
}

// siteAnswer returns a site.
func siteAnswer(text []byte, s wire.Site, colors bool) answer {
	rows := [][]string{{"name", s.Name}, {"status", siteStatus(s)}}
	if s.Revision > 0 {
		rows = append(rows, []string{"revision", strconv.FormatInt(s.Revision, 10)}, []string{"stamp", dash(s.Stamp)})
	}
	rows = append(rows, []string{"documents", strconv.FormatInt(s.Documents, 10)},
		[]string{"created", dash(moment(s.CreatedAt))}, []string{"changed", dash(moment(s.ChangedAt))},
		[]string{"labels", dash(labelText(s.Labels))}, []string{"limits", cmp.Or(limitText(s.Limits), "those of the server")})
	return answer{text, []string{s.Name}, paintedTable(rows, 1, colors)}
}

// limitText returns the limits that a site has instead of the server's, "" for none.
func limitText(limits wire.SiteLimits) string {
	var parts []string
	for _, limit := range []struct {
		of   *int64
		text string
	}{{limits.Documents, "%d documents"}, {limits.Changes, "%d changes a minute"}, {limits.Keep, "%d revisions kept"}} {
		if limit.of != nil {
			parts = append(parts, fmt.Sprintf(limit.text, *limit.of))
		}
	}
	return words.Line(strings.Join(parts, ", "))
}
