package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"purser/cmd/purser/internal/folder"
	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// tagCommand sets, deletes or lists tags.
type tagCommand struct {
	remote
	output
	consent

	Name     string `arg:"" help:"Tag to set. Without one, the tags of all revisions are listed." optional:"" values:"tags"`
	Revision string `arg:"" help:"Revision to tag: 17, latest, tag:NAME, or latest~1, the one before latest." optional:"" values:"revisions"`
	Delete   bool   `help:"Delete the tag; without a revision, from the newest revision that has it." short:"d"`
	Data     string `help:"A value to keep with the tag, in YAML." placeholder:"YAML"`
}

// Run sets, deletes or lists tags.
func (c *tagCommand) Run(ctx context.Context, around *surroundings) error {
	switch {
	case c.Name == "" && c.Delete:
		return errors.New("name the tag to delete")
	case c.Name != "" && c.Revision == "" && !c.Delete: // without a revision, the tag is shown, not set
		return fmt.Errorf("name the revision to tag: purser tag %s latest; purser tag lists the tags", c.Name)
	}
	if err := folder.Parsable(ctx, "--data", []byte(c.Data)); err != nil {
		return err
	}
	server, err := c.ProvideClient(ctx, around)
	if err != nil {
		return err
	}
	if c.Name == "" {
		return c.list(ctx, around, server)
	}
	about, err := revisionOf(ctx, server, cmp.Or(c.Revision, "tag:"+c.Name))
	if err != nil {
		return err
	}
	request := client.Request{
		Method: http.MethodPost, Path: []string{"revisions", strconv.FormatInt(about.ID, 10), "tags", c.Name},
		Query: url.Values{"revision-stamp": {about.Stamp}},
	}
	if c.Delete {
		request.Method = http.MethodDelete
		if err := c.confirm(around, fmt.Sprintf("delete the tag %s of revision %d", c.Name, about.ID), ""); err != nil {
			return err
		}
	} else if c.Data != "" {
		request.Body = []byte(c.Data)
	}
	if _, err := server.Send(ctx, request, nil); err != nil {
		return err
	}
	return c.print(around, taggedAnswer(c.Name, about, c.Delete))
}

// revisionOf reads a revision, for its number and stamp.
func revisionOf(ctx context.Context, server *client.Client, name string) (wire.Revision, error) {
	var about wire.Revision
	resolved, err := server.Resolve(ctx, name)
	if err == nil {
		_, err = server.Get(ctx, &about, nil, "revisions", resolved)
	}
	return about, err
}

// maxListed bounds the items of lists that are read completely.
const maxListed = 100_000

// list prints all tags, each with its newest revision.
func (c *tagCommand) list(ctx context.Context, around *surroundings, server *client.Client) error {
	query := url.Values{"sort": {"id"}, "order": {"desc"}}
	revisions, err := listOf[wire.Revision](ctx, server, maxListed, query, "revisions")
	if err != nil {
		return err
	}
	return c.print(around, tagList(revisions.items))
}

// tagList returns the tags of revisions, each with the newest revision that has it. The newest revisions come first.
func tagList(revisions []wire.Revision) answer {
	newest := map[string]wire.Revision{}
	for _, revision := range slices.Backward(revisions) {
		for _, tag := range revision.Tags.Names {
			newest[tag] = revision
		}
	}
	rows, numbers := [][]string{{"TAG", "REVISION", "STATUS", "AT"}}, map[string]int64{}
	tags := slices.Sorted(maps.Keys(newest))
	for _, tag := range tags {
		r := newest[tag]
		numbers[tag] = r.ID
		rows = append(rows, []string{tag, strconv.FormatInt(r.ID, 10), verdictWord(r.Status), moment(r.CreatedAt)})
	}
	return answer{marshal(numbers), tags, table(rows)}
}

// taggedAnswer returns the result of setting or deleting a tag.
func taggedAnswer(tag string, revision wire.Revision, deleted bool) answer {
	did := "Tagged"
	if deleted {
		did = "No longer tagged"
	}
	return answer{
		marshal(map[string]any{"tag": tag, "revision": revision.ID, "deleted": deleted}),
		[]string{tag},
		fmt.Sprintf("%s %s: revision %d\n", did, words.Line(tag), revision.ID),
	}
}
