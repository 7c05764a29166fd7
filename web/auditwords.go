package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"purser/internal/events"
	"purser/internal/wire"
)

// deeds are what requests do, by method and path below the API's: a verb in the past and in the infinitive, and its
// object, in which {1} is the second step of the path.
var deeds = []struct{ method, path, past, infinitive, object string }{
	{http.MethodPut, "buckets/*/documents", "pushed", "push", "bucket {1}"},
	{http.MethodPut, "buckets/*/packages/*", "stored", "store", "package {3} in bucket {1}"},
	{http.MethodPut, "changesets", "pushed", "push", "a change set"},
	{http.MethodPost, "rollback/*", "rolled back", "roll back", "to revision {1}"},
	{http.MethodPost, "revisions/*/tags/*", "set", "set", "tag {3} of revision {1}"},
	{http.MethodDelete, "revisions/*/tags/*", "deleted", "delete", "tag {3} of revision {1}"},
	{http.MethodDelete, "revisions/*/tags", "deleted", "delete", "all tags of revision {1}"},
	{http.MethodPost, "revisions/*/validations/*", "posted", "post", "a result of {3} for revision {1}"},
	{http.MethodPost, "revisions/*/validations/*/request", "asked", "ask", "for a new result of {3} for revision {1}"},
	{http.MethodPost, "revisions/*/waivers", "waived", "waive", "a validation of revision {1}"},
	{http.MethodDelete, "revisions/*/waivers/*", "ended", "end", "waiver {3} of revision {1}"},
	{http.MethodPost, "claims", "claimed", "claim", "work"},
	{http.MethodDelete, "claims/*", "gave back", "give back", "work"},
	{http.MethodPost, "revisions/prune", "pruned", "prune", "old revisions"},
	{http.MethodDelete, "revisions", "deleted", "delete", "all revisions"},
	{http.MethodPost, "webhooks", "added", "add", "a webhook"},
	{http.MethodPut, "webhooks/*", "changed", "change", "webhook {1}"},
	{http.MethodDelete, "webhooks/*", "deleted", "delete", "webhook {1}"},
}

// auditItem is an entry of the audit with what it says in words.
type auditItem struct {
	wire.AuditEvent

	Words   string // such as "pushed bucket site: renumbered; 4 documents changed"; "" if such a request has none
	Created bool   // the request has made Revision
}

// inWords returns an entry of the audit with what it says in words. made has the revisions that requests have made, by
// number, as far as they are known.
func inWords(e wire.AuditEvent, made map[int64]events.Created) auditItem {
	item := auditItem{AuditEvent: e}
	at, err := url.Parse(e.Target)
	if err != nil {
		return item
	}
	below, ok := strings.CutPrefix(at.EscapedPath(), "/api/v1.0/")
	steps := strings.Split(below, "/")
	for _, deed := range deeds {
		if !ok || deed.method != e.Method || !matches(deed.path, steps) {
			continue
		}
		query := at.Query()
		dryRun, _ := wire.ParseFlag(query.Get("dry-run"))
		dryRun = dryRun && query.Has("dry-run")
		item.Created = !dryRun && e.Status < http.StatusBadRequest &&
			(deed.past == "pushed" || deed.past == "stored" || deed.past == "rolled back")
		item.Words = wordsOf(e.Status, dryRun, deed.past, deed.infinitive) + " " + filled(deed.object, steps)
		if message := query.Get("message"); message != "" {
			item.Words += ": " + message
		}
		if effect := made[e.About()].Effect().String(); item.Created && effect != "" {
			item.Words += "; " + effect
		}
		break
	}
	return item
}

// wordsOf returns what was done with the verb of a deed: it, a dry run of it, or a failure.
func wordsOf(status int, dryRun bool, past, infinitive string) string {
	switch {
	case status >= http.StatusBadRequest:
		return "tried to " + infinitive
	case dryRun:
		return "did a dry run: " + infinitive
	}
	return past
}

// matches reports whether the steps of a path are those of a pattern, in which * stands for any.
func matches(pattern string, steps []string) bool {
	wanted := strings.Split(pattern, "/")
	if len(wanted) != len(steps) {
		return false
	}
	for i, want := range wanted {
		if want != "*" && want != steps[i] {
			return false
		}
	}
	return true
}

// filled returns a text with steps of a path in the places of their numbers.
func filled(text string, steps []string) string {
	var pairs []string
	for i, step := range steps {
		plain, err := url.PathUnescape(step)
		if err != nil {
			plain = step
		}
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", plain)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
