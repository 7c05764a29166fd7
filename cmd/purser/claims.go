package main

import (
	"context"
	"strconv"

	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// claimsCommand lists work.
type claimsCommand struct {
	remoteSites
	output
}

// Run prints the results that revisions lack, and who works on them.
func (c *claimsCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	found, err := listOf[wire.Work](ctx, server, maxListed, nil, "claims")
	if err != nil {
		return err
	}
	return c.print(around, workList(found, c.AllSites))
}

// workList returns a list of work, with its sites if sited is set.
func workList(all list[wire.Work], sited bool) answer {
	const most = 60 // characters of the progress, and of the reason of a request
	header := []string{
		"SITE", "REVISION", "VALIDATION", "STATE", "ATTEMPT", "WORKER", "SINCE", "EXPIRES", "PROGRESS", "REASON",
	}
	rows, names := [][]string{header}, []string{}
	for _, w := range all.items {
		names = append(names, inSite(w.Site, w.Validation, sited))
		if w.State == "open" { // the claim is an earlier one, which has ended
			w.Worker, w.Since, w.ExpiresAt, w.Progress = "", "", "", ""
		}
		rows = append(rows, []string{
			w.Site, strconv.FormatInt(w.Revision, 10), w.Validation, w.State, strconv.Itoa(w.Attempt), dash(w.Worker),
			dash(moment(w.Since)), dash(moment(w.ExpiresAt)), dash(words.First(string(w.Progress), most)),
			dash(words.First(string(w.Reason), most)),
		})
	}
	return answer{all.text(), names, table(withSites(rows, sited))}
}
