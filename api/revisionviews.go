package api

import (
	"encoding/json"
	"net/http"
	"net/url"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

type policyView struct {
	Name        string           `json:"name"`
	URL         string           `json:"url,omitempty"`
	Status      string           `json:"status"`
	Validations []validationView `json:"validations,omitempty"`
}

type validationView struct {
	Name    string `json:"name"`
	Status  string `json:"status"`
	URL     string `json:"url,omitempty"`
	Message string `json:"message,omitempty"` // of the status of a revision alone
}

func (s *server) policyViews(r *http.Request, shown revisions.Shown) []policyView {
	views := []policyView{}
	for _, policy := range shown.Verdict.Policies {
		id := policy.Policy.Identity
		query := url.Values{"schema": {id.Schema}, "metadata.name": {id.Name}}
		view := policyView{
			Name: id.Name, Status: policy.Status.String(),
			URL: s.revisionURL(r, shown.ID) + "/documents?" + query.Encode(),
		}
		if !s.Compat {
			for _, v := range policy.Validations {
				view.Validations = append(view.Validations,
					validationView{Name: v.Name, Status: v.Status.String(), URL: s.validationURL(r, shown.ID, v.Name)})
			}
		}
		views = append(views, view)
	}
	return views
}

// revisionStatus returns the status word of a revision, which differs from that of a policy (spec/api.md §0 D8).
func revisionStatus(status validations.Status) string {
	if status == validations.Success {
		return "success"
	}
	return "failed"
}

// history shows how a revision was made. The reference shows none of it.
type history struct {
	Stamp        string  `json:"stamp"`
	Kind         string  `json:"kind"`
	User         *string `json:"user"`
	Message      *string `json:"message"`
	RolledBackTo *int64  `json:"rolledBackTo,omitempty"`
}

func historyOf(revision revisions.Revision) history {
	h := history{
		Stamp: revision.Stamp.String(), Kind: revision.Kind.String(),
		User: optional(revision.User), Message: optional(revision.Message),
	}
	if revision.Kind == revisions.Rollback {
		h.RolledBackTo = &revision.Origin
	}
	return h
}

// optional returns nil, which is shown as null, for an empty text.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

type revisionView struct {
	Buckets   []string `json:"buckets"`
	CreatedAt *string  `json:"createdAt"`
	ID        int64    `json:"id"`
	history

	Status             string                     `json:"status"`
	Tags               map[string]json.RawMessage `json:"tags"`
	URL                string                     `json:"url"`
	ValidationPolicies []policyView               `json:"validationPolicies"`
}

func (s *server) revisionView(r *http.Request, described queries.Described) revisionView {
	shown := described.Shown
	return revisionView{
		Buckets: nonNil(shown.Buckets), CreatedAt: timeText(shown.CreatedAt), ID: shown.ID,
		history: historyOf(shown.Revision), Tags: tagViews(described.TagData),
		Status: revisionStatus(shown.Verdict.Status), URL: s.revisionURL(r, shown.ID),
		ValidationPolicies: s.policyViews(r, shown),
	}
}

// nonNil returns an empty list for nil, which would be shown as null.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

type revisionItem struct {
	Buckets   []string `json:"buckets"`
	CreatedAt *string  `json:"createdAt"`
	ID        int64    `json:"id"`
	history

	Status             string       `json:"status"`
	Tags               []string     `json:"tags"`
	ValidationPolicies []policyView `json:"validationPolicies"`
}

func (s *server) revisionItem(r *http.Request, shown revisions.Shown) revisionItem {
	return revisionItem{
		Buckets: nonNil(shown.Buckets), CreatedAt: timeText(shown.CreatedAt), ID: shown.ID,
		history: historyOf(shown.Revision), Tags: nonNil(shown.Tags),
		Status: revisionStatus(shown.Verdict.Status), ValidationPolicies: s.policyViews(r, shown),
	}
}

// revisionList is a page of revisions. The reference has no pages and does not show purges (spec/api.md §0 C5).
type revisionList struct {
	paged[revisionItem]

	Purged *purgeView `json:"purged,omitempty"`
}

// purgeView shows when, by whom and why all earlier revisions were deleted.
type purgeView struct {
	At      *string `json:"at"`
	User    *string `json:"user"`
	Message *string `json:"message"`
}

func (s *server) revisionList(r *http.Request, query queries.Query, found queries.Listed) revisionList {
	view := revisionList{}
	view.list = listOf(found.Revisions, func(shown revisions.Shown) revisionItem { return s.revisionItem(r, shown) })
	if s.Compat {
		return view
	}
	next, previous := s.pages(r, query.Page, found.More)
	view.Next, view.Prev = &next, &previous
	if p := found.Purged; p != nil {
		view.Purged = &purgeView{timeText(p.At), optional(p.User), optional(p.Message)}
	}
	return view
}

// pruneView shows what a prune deletes, or would delete.
type pruneView struct {
	DryRun    bool            `json:"dryRun"`
	Revisions prunedRevisions `json:"revisions"`
	Documents int             `json:"documents"` // versions of documents
	Contents  int             `json:"contents"`
	Bytes     int64           `json:"bytes"`
	Kept      int             `json:"kept"`
}

type prunedRevisions struct {
	Count  int             `json:"count"`
	Ranges []revisionRange `json:"ranges"`
}

type revisionRange struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

func pruneViewOf(pruned revisions.Pruned, dryRun bool) pruneView {
	ranges := []revisionRange{}
	for _, revision := range pruned.Revisions {
		if last := len(ranges) - 1; last >= 0 && ranges[last].Last == revision-1 {
			ranges[last].Last = revision
		} else {
			ranges = append(ranges, revisionRange{revision, revision})
		}
	}
	return pruneView{
		DryRun: dryRun, Revisions: prunedRevisions{len(pruned.Revisions), ranges}, Documents: pruned.Documents,
		Contents: pruned.Contents, Bytes: pruned.Bytes, Kept: pruned.Remaining,
	}
}
