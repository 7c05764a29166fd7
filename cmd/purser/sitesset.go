package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"purser/internal/client"
	"purser/internal/wire"
)

// sitesSetCommand makes or changes a site.
type sitesSetCommand struct {
	siteChange

	Label     []string  `help:"Label to set." placeholder:"KEY=VALUE" sep:"none"`
	NoLabel   []string  `help:"Label to remove." placeholder:"KEY" sep:"none"`
	Documents siteLimit `help:"Most live documents, in the place of the server's limit; 0 or none: the server's." placeholder:"N"`
	Changes   siteLimit `help:"Most changes a minute, of each server; 0 or none: the server's limit." placeholder:"N"`
	Keep      siteLimit `help:"Revisions to keep, besides tagged ones; 0 or none: the server's limit." placeholder:"N"`
	New       bool      `help:"Only make the site: if there is one of this name, it stays as it is, and the exit code is 1."`
}

// siteLimit is a limit of a site on a command line.
type siteLimit struct {
	given bool
	limit *int64 // nil for that of the server
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *siteLimit) UnmarshalText(text []byte) error {
	*l = siteLimit{given: true}
	if string(text) == "none" {
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	switch {
	case err != nil || n < 0:
		return fmt.Errorf("a limit is a number, or none for that of the server, and not %q", text)
	case n > 0:
		l.limit = &n
	}
	return nil
}

// Validate refuses labels without a value, and names that no site can have.
func (c *sitesSetCommand) Validate() error {
	labels, err := labelsOf("--label", c.Label)
	for _, key := range c.NoLabel {
		if _, set := labels[key]; set && err == nil {
			err = fmt.Errorf("--label sets %s and --no-label removes it: give one of them", key)
		}
	}
	return errors.Join(err, c.siteArgument.Validate())
}

// Run makes the site, or changes what the flags name of it.
func (c *sitesSetCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	var settings siteSettings
	var err error
	isNew := c.New
	if !isNew {
		settings, err = c.read(ctx, server)
	}
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Type == "UnknownSite" {
		isNew, err = true, nil // and what somebody else makes meanwhile stays as it is
	}
	if err != nil {
		return err
	}
	return c.put(ctx, around, server, c.changed(settings), isNew, "Changed")
}

// changed returns settings with what the flags name.
func (c *sitesSetCommand) changed(s siteSettings) siteSettings {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	set, _ := labelsOf("--label", c.Label) // Validate has parsed them
	maps.Copy(labels, set)
	for _, key := range c.NoLabel {
		delete(labels, key)
	}
	s.Labels = labels
	for _, limit := range []struct {
		to siteLimit
		of **int64
	}{{c.Documents, &s.Limits.Documents}, {c.Changes, &s.Limits.Changes}, {c.Keep, &s.Limits.Keep}} {
		if limit.to.given {
			*limit.of = limit.to.limit
		}
	}
	return s
}

// siteSettings are what a PUT sets of a site.
type siteSettings struct {
	Labels   map[string]string `json:"labels"`
	Limits   wire.SiteLimits   `json:"limits"`
	Archived bool              `json:"archived"`
}

// siteChange holds the flags and the argument of commands that change a site.
type siteChange struct {
	remote
	output
	siteArgument
}

// read reads the settings of the site.
func (c *siteChange) read(ctx context.Context, server *client.Client) (siteSettings, error) {
	var found wire.Site
	_, err := server.Sites().Get(ctx, &found, nil, c.Name)
	return siteSettings{found.Labels, found.Limits, found.Archived}, err
}

// put sets all settings of the site, and prints what was done. With isNew the site must not exist yet.
func (c *siteChange) put(ctx context.Context, around *surroundings, server *client.Client, settings siteSettings,
	isNew bool, done string,
) error {
	said, err := server.Sites().Do(ctx, client.Request{
		Method: http.MethodPut, Path: []string{c.Name}, Body: marshal(settings), JSON: true, New: isNew, Again: !isNew,
	})
	if err != nil {
		return err
	}
	if said.Status == http.StatusCreated {
		done = "Made"
	}
	return c.print(around, answer{said.Body, []string{c.Name}, done + " site " + c.Name + "\n"})
}

// setArchived archives or opens the site, and keeps its other settings.
func (c *siteChange) setArchived(ctx context.Context, around *surroundings, server *client.Client, archived bool,
	done string,
) error {
	settings, err := c.read(ctx, server)
	if err != nil {
		return err
	}
	settings.Archived = archived
	return c.put(ctx, around, server, settings, false, done)
}

// sitesArchiveCommand archives a site.
type sitesArchiveCommand struct{ siteChange }

// Run archives the site.
func (c *sitesArchiveCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	return c.setArchived(ctx, around, server, true, "Archived")
}

// sitesOpenCommand opens an archived site.
type sitesOpenCommand struct{ siteChange }

// Run opens the site.
func (c *sitesOpenCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	return c.setArchived(ctx, around, server, false, "Opened")
}

// sitesDeleteCommand deletes a site.
type sitesDeleteCommand struct {
	siteChange

	Confirm string `help:"Name of the site once more: do not ask for it." placeholder:"NAME"`
}

// Run deletes the site. On a terminal it asks for the name.
func (c *sitesDeleteCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	if c.Confirm == "" {
		if !around.asks {
			return no("this would delete site " + c.Name + " with all its revisions; add --confirm " + c.Name + " to allow it")
		}
		fmt.Fprintf(around.stderr, "This deletes site %s of %s with all its revisions, which cannot be restored.\n"+
			"Type its name to delete it: ", c.Name, server.Server)
		_, _ = fmt.Fscanln(around.stdin, &c.Confirm) // an empty name confirms nothing
	}
	if c.Confirm != c.Name {
		return no("this is not the name of the site, " + c.Name + "; nothing was deleted")
	}
	_, err := server.Sites().Do(ctx, client.Request{
		Method: http.MethodDelete, Path: []string{c.Name}, Query: url.Values{"confirm": {c.Name}},
	})
	if err != nil {
		return err
	}
	return c.print(around, answer{marshal(map[string]string{"name": c.Name}), []string{c.Name}, fmt.Sprintf(
		"Site %s is being deleted; its name is free once the last of its rows is gone\n", c.Name)})
}
