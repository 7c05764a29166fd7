package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"purser/internal/client"
	"purser/internal/validations"
	"purser/internal/wire"
	"purser/internal/words"
)

// waiveCommand makes a waiver.
type waiveCommand struct {
	remote
	output

	Validation string `arg:"" help:"Name of the validation that a ValidationPolicy requires." values:"validations"`
	Revision   string `arg:"" default:"latest" help:"Revision: 17, tag:NAME. The default, latest, may by now be another one than you looked at." values:"revisions"`
	Reason     string `help:"Why; everybody who may read the status sees it." placeholder:"REASON" required:"" short:"m"`
	For        string `help:"How long, up to 30 days: 7d, 12h or P7D." placeholder:"7d" xor:"end"`
	Until      string `help:"Until when: 2026-12-01T12:00:00Z." placeholder:"TIME" xor:"end"`
	Stamp      string `help:"Stamp of the revision, which -o json of status prints; the waiver is refused if another revision has this number by now." placeholder:"STAMP"`
}

// Validate refuses a waiver without an end.
func (c *waiveCommand) Validate() error {
	if c.For == "" && c.Until == "" {
		return errors.New("a waiver always ends: say when with --for, such as --for 7d, or with --until")
	}
	return nil
}

// Run makes the waiver.
func (c *waiveCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	revision, err := server.Resolve(ctx, c.Revision)
	if err != nil {
		return err
	}
	wanted, query := map[string]string{"validation": c.Validation, "reason": c.Reason}, url.Values{}
	if c.For != "" {
		wanted["for"] = isoDuration(c.For)
	} else {
		wanted["expiresAt"] = c.Until
	}
	if c.Stamp != "" {
		query.Set("revision-stamp", c.Stamp)
	}
	var made wire.Waiver
	text, err := server.Send(ctx, client.Request{ // the only one, so that it needs no other right
		Method: http.MethodPost, Path: []string{"revisions", revision, "waivers"}, Query: query, Body: marshal(wanted),
	}, &made)
	if err != nil {
		return err
	}
	return c.print(around, answer{text, []string{strconv.FormatInt(made.ID, 10)}, fmt.Sprintf(
		"Waiver %d: revision %d counts %s as a success until %s\n", made.ID, made.Revision, words.Line(made.Validation),
		moment(made.ExpiresAt))})
}

// isoDuration returns a duration such as 7d or 1h30m in the form of ISO 8601, and any other text unchanged, which the
// server refuses if it is not in that form.
func isoDuration(text string) string {
	if iso := validations.AsDuration(text); iso != "" {
		return iso
	}
	if lasts, err := time.ParseDuration(text); err == nil && lasts >= 0 {
		return "PT" + strconv.FormatFloat(lasts.Seconds(), 'f', -1, 64) + "S"
	}
	return text
}

// waiversCommand lists waivers, and ends one.
type waiversCommand struct {
	List waiversListCommand `cmd:"" default:"withargs" help:"List the waivers of all revisions, or of one. This is what purser waivers alone does."`
	End  waiversEndCommand  `cmd:"" help:"End a waiver before its time."`
}

// waiversListCommand lists waivers.
type waiversListCommand struct {
	remoteSites
	output

	Revision string `arg:"" help:"Revision: 17, latest, tag:NAME. Without one, the waivers of all revisions are listed." optional:"" values:"revisions"`
	All      bool   `help:"List those that have ended or expired, too."`
}

// Run lists the waivers.
func (c *waiversListCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	if c.AllSites && c.Revision != "" {
		return fmt.Errorf("revision %s is one of one site: name that by --site, or leave the revision out", c.Revision)
	}
	all, err := c.read(ctx, server)
	if err != nil {
		return err
	}
	return c.print(around, waiverList(all, c.AllSites, around.colors))
}

// read reads the waivers to list: those that end first first.
func (c *waiversListCommand) read(ctx context.Context, server *client.Client) (found list[wire.Waiver], err error) {
	if c.Revision == "" {
		return listOf[wire.Waiver](ctx, server, maxListed, activeOnly(!c.All), "waivers")
	}
	revision, err := server.Resolve(ctx, c.Revision)
	if err != nil {
		return found, err
	}
	var all wire.List[wire.Waiver]
	if _, err := server.Get(ctx, &all, nil, "revisions", revision, "waivers"); err != nil {
		return found, err
	}
	slices.SortStableFunc(all.Results, func(a, b wire.Waiver) int { return strings.Compare(end(a), end(b)) })
	for _, w := range all.Results {
		if c.All || w.Status == "active" {
			found.items, found.texts = append(found.items, w), append(found.texts, marshal(w))
		}
	}
	return found, nil
}

// activeOnly returns the query of waivers, or of the active ones.
func activeOnly(is bool) url.Values {
	if is {
		return url.Values{"active": {"true"}}
	}
	return nil
}

// end returns when a waiver ends or has ended. Such texts are in the order of the times.
func end(w wire.Waiver) string { return string(cmp.Or(w.EndedAt, w.ExpiresAt)) }

// waiverList returns waivers as a table, with their sites if sited is set.
func waiverList(all list[wire.Waiver], sited, colors bool) answer {
	rows, names := [][]string{{"SITE", "STATUS", "ID", "REVISION", "VALIDATION", "UNTIL", "BY", "REASON"}}, []string{}
	for _, w := range all.items {
		id, by := strconv.FormatInt(w.ID, 10), dash(w.By)
		if w.CarriedFrom != nil {
			by += fmt.Sprintf(" for revision %d", *w.CarriedFrom)
		}
		until := moment(wire.Optional(end(w)))
		if w.EndedBy != "" {
			until += " by " + string(w.EndedBy)
		}
		names = append(names, inSite(w.Site, id, sited))
		rows = append(rows, []string{
			w.Site, w.Status, id, strconv.FormatInt(w.Revision, 10), w.Validation, until, by, w.Reason,
		})
	}
	statuses := 0
	if sited {
		statuses = 1
	}
	return answer{all.text(), names, paintedTable(withSites(rows, sited), statuses, colors)}
}

// waiversEndCommand ends a waiver.
type waiversEndCommand struct {
	remote
	output

	ID int64 `arg:"" help:"Number of the waiver, which purser waivers lists."`
}

// Run ends the waiver.
func (c *waiversEndCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	w, err := c.find(ctx, server)
	if err != nil {
		return err
	}
	if _, err := server.Send(ctx, client.Request{
		Method: http.MethodDelete,
		Path:   []string{"revisions", strconv.FormatInt(w.Revision, 10), "waivers", strconv.FormatInt(w.ID, 10)},
	}, nil); err != nil {
		return err
	}
	said := "has ended"
	if w.Status != "active" {
		said = "had ended already, at " + moment(wire.Optional(end(w)))
	}
	return c.print(around, answer{
		marshal(map[string]any{"id": w.ID, "revision": w.Revision, "validation": w.Validation}),
		[]string{strconv.FormatInt(w.ID, 10)},
		fmt.Sprintf("Waiver %d of %s for revision %d %s\n", w.ID, words.Line(w.Validation), w.Revision, said),
	})
}

// find returns the waiver, for its revision: it looks among the active ones first.
func (c *waiversEndCommand) find(ctx context.Context, server *client.Client) (wire.Waiver, error) {
	for _, active := range []bool{true, false} {
		found, err := listOf[wire.Waiver](ctx, server, maxListed, activeOnly(active), "waivers")
		if err != nil {
			return wire.Waiver{}, err
		}
		at := slices.IndexFunc(found.items, func(w wire.Waiver) bool { return w.ID == c.ID })
		if at >= 0 {
			return found.items[at], nil
		}
	}
	return wire.Waiver{}, no(fmt.Sprintf("no revision has a waiver %d; purser waivers --all lists all", c.ID))
}
