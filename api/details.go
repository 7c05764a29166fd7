package api

import (
	"net/http"
	"net/url"
	"slices"

	"purser/internal/authz"
	"purser/internal/events"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/wire"
)

// detailParts are the values of the parameter details with the rights that they need.
var detailParts = []struct{ name, rule string }{
	{"revision", authz.ShowRevision},
	{"findings", authz.ListValidations},
	{"results", authz.ListValidations},
	{"history", authz.ListRevisions},
	{"buckets", readDocuments},
}

// Bounds of the details of a verdict.
const (
	defaultDetailed, maxDetailed       = 50, 1000 // findings
	detailedRevisions, detailedBuckets = 50, 100
)

// wantedDetails reads which details of a verdict are wanted. Those that the caller may not read are left out.
func (s *server) wantedDetails(r *http.Request, q *params) (wanted queries.Wanted, asked bool) {
	names := q.texts("details")
	limit := q.count("limit", defaultDetailed)
	if limit < 1 || limit > maxDetailed {
		q.fail("limit", "It must be from 1 to %d.", maxDetailed)
	}
	may := map[string]bool{}
	for _, part := range detailParts {
		may[part.name] = slices.Contains(names, part.name) && s.allows(r, part.rule)
	}
	for _, name := range names {
		if _, known := may[name]; !known {
			q.fail("details", "Its values can be revision, findings, results, history and buckets.")
		}
	}
	wanted = queries.Wanted{Described: may["revision"], Results: may["results"]}
	if may["findings"] {
		wanted.Findings = limit
	}
	if may["history"] {
		wanted.History = detailedRevisions
	}
	if may["buckets"] {
		wanted.Buckets = detailedBuckets
	}
	return wanted, len(names) > 0
}

// details returns the view of the wanted details of a verdict.
func (s *server) details(r *http.Request, of revisions.RevisionStatus, wanted queries.Wanted) (*wire.Details, error) {
	found, err := s.questions(r).Details(r.Context(), of, wanted)
	if err != nil {
		return nil, err
	}
	view, links := &wire.Details{}, s.links(r)
	if found.Described != nil {
		view.Revision = new(links.revision(*found.Described))
	}
	if found.Findings != nil {
		view.Findings = new(findingsView(*found.Findings))
	}
	if found.Results != nil {
		view.Results = new(resultsView(*found.Results))
	}
	if found.History != nil {
		if view.History, err = s.history(r, *found.History); err != nil {
			return nil, err
		}
	}
	if found.Buckets != nil {
		view.Buckets = new(listView(found.Buckets.Buckets, links.bucket))
		next, previous := links.pages(&url.URL{Path: v1 + "/buckets"}, queries.Page{Limit: detailedBuckets},
			view.Buckets.Count, found.Buckets.More)
		view.Buckets.Next, view.Buckets.Prev = &next, &previous
	}
	return view, nil
}

// history returns the view of the newest revisions, with their changes.
func (s *server) history(r *http.Request, found queries.Listed) (*wire.Revisions, error) {
	effects, err := s.effects(r)
	if err != nil {
		return nil, err
	}
	at := &url.URL{Path: v1 + "/revisions", RawQuery: "sort=id&order=desc"}
	view := s.links(r).revisions(at, queries.Page{Limit: detailedRevisions}, found)
	for i, item := range view.Results {
		view.Results[i].Changes = effects[item.ID]
	}
	return &view, nil
}

// resultsView returns the view of the newest results of validations.
func resultsView(of queries.Results) wire.List[wire.Validation] {
	return listView(of.Summaries, func(summary validations.Summary) wire.Validation {
		view := wire.Validation{Name: summary.Name, Status: summary.Status}
		if entry, posted := of.Newest[summary.Name]; posted {
			view.Newest = newestView(entry)
		}
		return view
	})
}

// effects returns the changes of the newest revisions that the feed has, by revision. It returns none to a caller who
// may not read events.
func (s *server) effects(r *http.Request) (map[int64]*events.Effect, error) {
	if !s.allows(r, authz.ListEvents) {
		return nil, nil
	}
	latest, err := s.at(r).Feed.Latest(r.Context(), events.RevisionCreated)
	if err != nil && fault.KindOf(err) != fault.Gone {
		return nil, err
	}
	effects := map[int64]*events.Effect{}
	for _, event := range latest {
		if made, err := events.ReadCreated(event.For(infoOf(r).viewer)); err == nil {
			effects[made.Revision] = new(made.Effect())
		}
	}
	return effects, nil
}
