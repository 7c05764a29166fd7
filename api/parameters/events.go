package parameters

import (
	"slices"
	"strconv"
	"strings"

	"purser/internal/events"
	"purser/internal/feed"
	"purser/internal/words"
)

// Events selects events of the feed.
type Events struct {
	Since feed.Since
	Types []events.Type
	Limit int
}

// Events reads the selection of events. A cursor that is not empty replaces the parameter since.
func (q *Query) Events(cursor string) (w Events) {
	const defaultLimit = 100
	if w.Limit = q.Count("limit", defaultLimit); w.Limit < 1 || w.Limit > feed.MaxPage {
		q.Fail("limit", "It must be from 1 to %d.", feed.MaxPage)
	}
	for _, name := range q.Texts("type") {
		kind := events.Type(name)
		if !slices.Contains(events.Types(), kind) {
			q.Fail("type", "%s", unknownType(name))
		}
		w.Types = append(w.Types, kind)
	}
	slices.Sort(w.Types)
	w.Types = slices.Compact(w.Types)
	since := q.Text("since")
	if cursor != "" {
		since = cursor
	}
	switch since {
	case "", "0":
		w.Since.Oldest = true
		return w
	case "now":
		w.Since.Now = true
		return w
	}
	after, err := strconv.ParseUint(since, 10, 63)
	switch {
	case err != nil && cursor != "":
		q.failHeader("Last-Event-ID", "It must be the id of an event of this stream, and not %q.", words.Excerpt(cursor))
	case err != nil:
		q.Fail("since", "It must be the cursor of an answer, 0 for the oldest event that is kept, or now.")
	}
	w.Since.After = int64(after)
	return w
}

func unknownType(name string) string {
	var known []string
	for _, kind := range events.Types() {
		known = append(known, string(kind))
	}
	if nearest := words.Nearest(name, known); nearest != "" {
		return "No event has this type; did you mean " + nearest + "?"
	}
	return "No event has this type; the types are " + strings.Join(known, ", ") + "."
}
