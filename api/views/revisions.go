package views

import (
	"encoding/json"
	"net/url"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

type policyView struct {
	Name        string       `json:"name"`
	URL         string       `json:"url,omitempty"`
	Status      string       `json:"status"`
	Validations []Validation `json:"validations,omitempty"`
}

// Validation shows the outcome of a validation that a policy lists.
type Validation struct {
	Name    string `json:"name"`
	Status  string `json:"status"`
	URL     string `json:"url,omitempty"`
	Message string `json:"message,omitempty"` // only in the status of a revision
}

func (l Links) policyViews(shown revisions.Shown) []policyView {
	views := []policyView{}
	for _, policy := range shown.Verdict.Policies {
		id := policy.Policy.Identity
		query := url.Values{"schema": {id.Schema}, "metadata.name": {id.Name}}
		view := policyView{
			Name: id.Name, Status: policy.Status.String(),
			URL: l.RevisionURL(shown.ID) + "/documents?" + query.Encode(),
		}
		if !l.Compat {
			for _, v := range policy.Validations {
				view.Validations = append(view.Validations,
					Validation{Name: v.Name, Status: v.Status.String(), URL: l.ValidationURL(shown.ID, v.Name)})
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
		User: Optional(revision.User), Message: Optional(revision.Message),
	}
	if revision.Kind == revisions.Rollback {
		h.RolledBackTo = &revision.Origin
	}
	return h
}

// Optional returns nil, which is shown as null, for an empty string.
func Optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Revision shows a revision.
type Revision struct {
	Buckets   []string `json:"buckets"`
	CreatedAt *string  `json:"createdAt"`
	ID        int64    `json:"id"`
	history

	Status             string                     `json:"status"`
	Tags               map[string]json.RawMessage `json:"tags"`
	URL                string                     `json:"url"`
	ValidationPolicies []policyView               `json:"validationPolicies"`
	Weakened           []string                   `json:"weakened,omitempty"` // policies since Previous
	Previous           *int64                     `json:"previous,omitempty"` // the revision before; 0 if there is none
	Next               *int64                     `json:"next,omitempty"`
}

// Revision returns the view of a revision.
func (l Links) Revision(described queries.Described) Revision {
	shown := described.Shown
	view := Revision{
		Buckets: NonNil(shown.Buckets), CreatedAt: timeText(shown.CreatedAt), ID: shown.ID,
		history: historyOf(shown.Revision), Tags: Tags(described.TagData),
		Status: revisionStatus(shown.Verdict.Status), URL: l.RevisionURL(shown.ID),
		ValidationPolicies: l.policyViews(shown),
	}
	if around := described.Around; around != nil {
		view.Previous, view.Next, view.Weakened = &around.Previous, &around.Next, around.Weakened
	}
	return view
}

// NonNil replaces nil, which would be shown as null, by an empty list.
func NonNil[T any](list []T) []T {
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

func (l Links) revisionItem(shown revisions.Shown) revisionItem {
	return revisionItem{
		Buckets: NonNil(shown.Buckets), CreatedAt: timeText(shown.CreatedAt), ID: shown.ID,
		history: historyOf(shown.Revision), Tags: NonNil(shown.Tags),
		Status: revisionStatus(shown.Verdict.Status), ValidationPolicies: l.policyViews(shown),
	}
}

// RevisionList is a page of revisions. The reference has no pages and does not show purges (spec/api.md §0 C5).
type RevisionList struct {
	Paged[revisionItem]

	Purged *purgeView `json:"purged,omitempty"`
}

// purgeView shows the time, author and reason of the last purge.
type purgeView struct {
	At      *string `json:"at"`
	User    *string `json:"user"`
	Message *string `json:"message"`
}

// RevisionList returns the view of a page of revisions, with the URLs of the next and the previous one.
func (l Links) RevisionList(found queries.Listed, next, previous *string) RevisionList {
	view := RevisionList{}
	view.List = ListOf(found.Revisions, l.revisionItem)
	if l.Compat {
		return view
	}
	view.Next, view.Prev = &next, &previous
	if p := found.Purged; p != nil {
		view.Purged = &purgeView{timeText(p.At), Optional(p.User), Optional(p.Message)}
	}
	return view
}

// Prune shows the result of a prune or of its dry run.
type Prune struct {
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

// PruneOf returns the view of a prune.
func PruneOf(pruned revisions.Pruned, dryRun bool) Prune {
	ranges := []revisionRange{}
	for _, revision := range pruned.Revisions {
		if last := len(ranges) - 1; last >= 0 && ranges[last].Last == revision-1 {
			ranges[last].Last = revision
		} else {
			ranges = append(ranges, revisionRange{revision, revision})
		}
	}
	return Prune{
		DryRun: dryRun, Revisions: prunedRevisions{len(pruned.Revisions), ranges}, Documents: pruned.Documents,
		Contents: pruned.Contents, Bytes: pruned.Bytes, Kept: pruned.Remaining,
	}
}

// Tags maps the names of tags to their data (spec/api.md §6.4).
func Tags(tags []revisions.Tag) map[string]json.RawMessage {
	views := make(map[string]json.RawMessage, len(tags))
	for _, tag := range tags {
		views[tag.Name] = tag.Data
	}
	return views
}
