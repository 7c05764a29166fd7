package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"purser/internal/client"
	"purser/internal/fleet"
	"purser/internal/wire"
)

// fleetCommand copies documents of one site to others, and says which sites follow which.
type fleetCommand struct {
	Push   fleetPushCommand   `cmd:"" help:"Copy a bucket of one site to many: a dry run, or the change of those that would not fail."`
	Status fleetStatusCommand `cmd:"" help:"List the sites that follow buckets of a site, and how far they are behind."`
}

// fleetStatusCommand lists the sites that follow a site.
type fleetStatusCommand struct {
	remote
	output

	Name   string `arg:"" help:"Name of the site that others follow." name:"site" values:"sites"`
	Bucket string `help:"Only sites that follow this bucket of it." placeholder:"NAME" values:"buckets"`
	Behind bool   `help:"Only sites that are behind, or of which that is not known."`
}

// Validate refuses a name that no site can have.
func (c *fleetStatusCommand) Validate() error { return checkSite(c.Name) }

// Run prints the sites.
func (c *fleetStatusCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	found, err := listOf[wire.Site](ctx, server.Sites(), maxListed, url.Values{"follows": {c.Name}})
	if err != nil {
		return err
	}
	return c.print(around, followers(found, c.Bucket, c.Behind, around.colors))
}

// followers returns the sites of a list, with the buckets that follow one; if bucket is not "", one of this name, and
// with behind, only those that are not known to be up to date.
func followers(all list[wire.Site], bucket string, behind, colors bool) answer {
	rows, names := [][]string{{"SITE", "STATUS", "BUCKET", "FROM", "BEHIND"}}, []string{}
	texts := []json.RawMessage{}
	for i, s := range all.items {
		listed := false
		for _, name := range slices.Sorted(maps.Keys(s.Sources)) {
			from := s.Sources[name]
			upToDate := from.Behind != nil && *from.Behind == 0
			if bucket != "" && from.Bucket != bucket || behind && upToDate {
				continue
			}
			listed = true
			rows = append(rows, []string{
				s.Name, siteStatus(s), name, fmt.Sprintf("%s@%d/%s", from.Site, from.Revision, from.Bucket),
				fleet.BehindText(from.Behind),
			})
		}
		if listed {
			names, texts = append(names, s.Name), append(texts, all.texts[i])
		}
	}
	all.texts = texts
	return answer{all.text(), names, paintedTable(rows, 1, colors)}
}
