package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"purser/internal/client"
	"purser/internal/document"
	"purser/internal/events"
	"purser/internal/wire"
	"purser/internal/words"
)

// history checks the chain of all revisions.
func (c *verifyCommand) history(ctx context.Context, around *surroundings, server *client.Client) error {
	const most = 1_000_000
	seen, err := witnessed(c.Events, server.Site)
	if err != nil {
		return err
	}
	all, err := listOf[wire.Revision](ctx, server, most, url.Values{"sort": {"id"}}, "revisions")
	if err != nil {
		return err
	}
	links := make(map[int64]wire.Link, len(all.items))
	for _, revision := range all.items {
		if revision.Chain == "" {
			continue
		}
		var link wire.Link
		if _, err := server.Get(ctx, &link, nil, "revisions", strconv.FormatInt(revision.ID, 10), "chain"); err != nil {
			return err
		}
		links[revision.ID] = link
	}
	checked := checkChain(all.items, links)
	checked = append(checked, compareEvents(all.items, links, seen)...)
	found, text := checkedHistory{Intact: true, Lines: []string{}}, ""
	for _, line := range checked {
		found.Intact = found.Intact && !line.bad
		found.Lines = append(found.Lines, line.text)
		text += words.Line(line.text) + "\n"
	}
	word := "intact"
	if !found.Intact {
		word = "broken"
	}
	if err := c.print(around, answer{marshal(found), []string{word}, text}); err != nil || found.Intact {
		return err
	}
	return no("")
}

// checkedHistory is what is known of a history, as JSON.
type checkedHistory struct {
	Intact bool     `json:"intact"`
	Lines  []string `json:"lines"`
}

// said is a line about a history; bad, if it says that the history was tampered with or is another one.
type said struct {
	text string
	bad  bool
}

// checkChain compares the chain values of all revisions of a site, in order, with what the server found them to be made
// from.
func checkChain(revisions []wire.Revision, links map[int64]wire.Link) (lines []said) {
	var intact, without []int64
	for i, revision := range revisions {
		link, has := links[revision.ID]
		if !has {
			without = append(without, revision.ID)
			continue
		}
		var of linked
		_ = json.Unmarshal(link.Of, &of) // what is missing differs below
		why := ""
		switch {
		case link.Chain != revision.Chain || of.Revision != revision.ID || of.Stamp != revision.Stamp:
			why = "it was replaced while it was checked: check again"
		case i > 0 && revisions[i-1].ID == revision.ID-1 && revisions[i-1].Chain != "" && of.Previous != revisions[i-1].Chain:
			why = "it does not follow revision " + strconv.FormatInt(revision.ID-1, 10)
		case chainOf(link.Of) != link.Chain:
			why = "the database has something else now, about it or about the documents that it begins and ends, than what " +
				"its chain value " + shortChain(link.Chain) + " was made from"
		}
		if why != "" {
			lines = append(lines, said{fmt.Sprintf("revision %d: %s", revision.ID, why), true})
			continue
		}
		intact = append(intact, revision.ID)
	}
	var all []said
	if len(intact) > 0 {
		all = append(all, said{text: numbered(intact) + ": the chain is unbroken"})
	}
	if len(without) > 0 {
		all = append(all, said{text: numbered(without) + ": not checked, without a chain value: an earlier version of " +
			"Purser made " + itOrThem(without)})
	}
	if len(revisions) == 0 {
		all = append(all, said{text: "there is no revision"})
	}
	all = append(all, lines...)
	for _, revision := range revisions {
		if len(links[revision.ID].Unchecked) > 0 {
			all = append(all, said{text: fmt.Sprintf("revision %d: the one before was deleted. Which documents it ended is "+
				"not checked, and neither are those that it took over", revision.ID)})
		}
	}
	return all
}

// linked are the members of the text behind a chain value that a check looks at.
type linked struct {
	Revision int64  `json:"revision"`
	Stamp    string `json:"stamp"`
	Previous string `json:"previous"`
}

// chainOf returns the chain value that is made from a text, "" if it is no JSON.
func chainOf(text json.RawMessage) string {
	value, err := document.ParseJSON(text)
	if err != nil {
		return ""
	}
	return document.Digest(sha256.Sum256(document.Canonical(value))).String()
}

// witness is an event about the making of a revision.
type witness struct {
	events.Created

	at string
}

// witnessed reads the events about revisions of a site with chain values from a file, "" for none: one JSON text after
// the other, or lists of them.
func witnessed(path, site string) (seen []witness, err error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path) //nolint:gosec // named by the user
	if err != nil {
		return nil, fmt.Errorf("read the events: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	decoder := json.NewDecoder(bufio.NewReader(file))
	for {
		var text json.RawMessage
		if err := decoder.Decode(&text); errors.Is(err, io.EOF) {
			return seen, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the events in %s: %w", path, err)
		}
		list := []json.RawMessage{text}
		if bytes.HasPrefix(text, []byte("[")) {
			list = nil
			_ = json.Unmarshal(text, &list) // it is a list
		}
		for _, text := range list {
			event, ok, err := witnessOf(text, site)
			if err != nil {
				return nil, fmt.Errorf("read the events in %s: %w", path, err)
			}
			if ok {
				seen = append(seen, event)
			}
		}
	}
}

// witnessOf reads an event. ok is false if it is about something else than a revision of the site with a chain value.
func witnessOf(text json.RawMessage, site string) (w witness, ok bool, err error) {
	var event events.Cloud
	if err := json.Unmarshal(text, &event); err != nil || event.Type == "" {
		const most = 100
		return w, false, fmt.Errorf("there is something else than events of Purser: %s", words.FirstBytes(string(text), most))
	}
	if event.Type != events.RevisionCreated || siteOf(event.Source) != cmp.Or(site, client.DefaultSite) {
		return w, false, nil
	}
	created, err := events.ReadCreated(event.Data)
	return witness{created, event.Time}, err == nil && created.Chain != "", err
}

// siteOf returns the site in the source of an event.
func siteOf(source string) string {
	_, rest, found := strings.Cut(source, "/sites/")
	if !found {
		return client.DefaultSite
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// compareEvents compares saved events with the revisions that the site has now: the first revision with another chain
// value is where the histories part.
func compareEvents(revisions []wire.Revision, links map[int64]wire.Link, seen []witness) (lines []said) {
	if len(seen) == 0 {
		return nil
	}
	slices.SortStableFunc(seen, func(a, b witness) int { return int(a.Revision - b.Revision) })
	values := map[int64]string{} // of the chain, also of deleted revisions before others
	newest := int64(0)
	for _, revision := range revisions {
		newest = revision.ID
		values[revision.ID] = revision.Chain
		var of linked
		_ = json.Unmarshal(links[revision.ID].Of, &of) // without a link there is none
		if _, kept := values[revision.ID-1]; !kept && of.Previous != "" {
			values[revision.ID-1] = of.Previous
		}
	}
	agree, deleted := 0, 0
	for _, event := range seen {
		value, known := values[event.Revision]
		switch {
		case known && value == event.Chain:
			agree++
			continue
		case !known && event.Revision <= newest:
			deleted++
			continue
		}
		is := "the newest revision of the site is " + strconv.FormatInt(newest, 10)
		if known {
			is = "the site has " + shortChain(value)
		}
		lines = append(lines, said{fmt.Sprintf("revision %d: the histories part here. The event of %s has the chain value "+
			"%s, and %s: the site was restored, purged or changed since", event.Revision, event.at,
			shortChain(event.Chain), is), true})
		break
	}
	text := fmt.Sprintf("events: %d of %d agree", agree, len(seen))
	switch {
	case deleted == 1:
		text += ", 1 is about a revision that was deleted since"
	case deleted > 1:
		text += fmt.Sprintf(", %d are about revisions that were deleted since", deleted)
	}
	return append(lines, said{text: text})
}

// numbered names revisions by their ranges.
func numbered(numbers []int64) string {
	var ranges []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		if last == i {
			ranges = append(ranges, strconv.FormatInt(numbers[i], 10))
		} else {
			ranges = append(ranges, fmt.Sprintf("%d to %d", numbers[i], numbers[last]))
		}
		i = last + 1
	}
	noun := "revision "
	if len(numbers) > 1 {
		noun = "revisions "
	}
	const most = 20
	return noun + words.Some(ranges, most)
}

func itOrThem(numbers []int64) string {
	if len(numbers) == 1 {
		return "it"
	}
	return "them"
}

// shortChain returns the first digits of a chain value.
func shortChain(value string) string {
	const digits = 12
	if value == "" {
		return "none"
	}
	return value[:min(len(value), digits)] + "…"
}
