package api

import (
	"encoding/json"
	"net/url"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/wire"
)

func (l links) policyViews(shown revisions.RevisionStatus) []wire.Policy {
	views := []wire.Policy{}
	for _, policy := range shown.Verdict.Policies {
		id := policy.Policy.Identity
		query := url.Values{"schema": {id.Schema}, "metadata.name": {id.Name}}
		view := wire.Policy{
			Name: id.Name, Status: policy.Status.String(),
			URL: l.revisionURL(shown.ID) + "/documents?" + query.Encode(),
		}
		if !l.compat {
			for _, v := range policy.Validations {
				view.Validations = append(view.Validations,
					wire.Validation{Name: v.Name, Status: v.Status.String(), URL: l.validationURL(shown.ID, v.Name)})
			}
		}
		views = append(views, view)
	}
	return views
}

// revisionStatus returns the status word of a revision, which differs from that of a policy.
func revisionStatus(status validations.Status) string {
	if status == validations.Success {
		return "success"
	}
	return "failed"
}

// revision returns the view of a revision.
func (l links) revision(described queries.Described) wire.Revision {
	view := l.revisionItem(described.RevisionStatus)
	view.Tags.Data, view.URL = tagViews(described.TagData), l.revisionURL(described.RevisionStatus.ID)
	if around := described.Around; around != nil {
		view.Previous, view.Next, view.Weakened = &around.Previous, &around.Next, around.Weakened
	}
	return view
}

// revisionItem returns the view of a revision in a list.
func (l links) revisionItem(shown revisions.RevisionStatus) wire.Revision {
	view := wire.Revision{
		Buckets: nonNil(shown.Buckets), CreatedAt: wire.TimeText(shown.CreatedAt), ID: shown.ID,
		Stamp: shown.Stamp.String(), Kind: shown.Kind.String(),
		User: wire.Optional(shown.User), Message: wire.Optional(shown.Message), Tags: wire.Tags{Names: nonNil(shown.Tags)},
		Status: revisionStatus(shown.Verdict.Status), Policies: l.policyViews(shown),
	}
	if shown.Kind == revisions.Rollback {
		view.RolledBackTo = &shown.Origin
	}
	return view
}

// revisions returns the view of a page of revisions. at is the URL of the request.
func (l links) revisions(at *url.URL, page queries.Page, found queries.Listed) wire.Revisions {
	view := wire.Revisions{List: listView(found.Revisions, l.revisionItem)}
	if l.compat {
		return view
	}
	next, previous := l.pages(at, page, len(found.Revisions), found.More)
	view.Next, view.Prev = &next, &previous
	if p := found.Purged; p != nil {
		view.Purged = &wire.Purge{At: wire.TimeText(p.At), User: wire.Optional(p.User), Message: wire.Optional(p.Message)}
	}
	return view
}

// prunedView returns the view of a prune.
func prunedView(pruned revisions.Pruned, dryRun bool) wire.Pruned {
	ranges := []wire.Range{}
	for _, revision := range pruned.Revisions {
		if last := len(ranges) - 1; last >= 0 && ranges[last].Last == revision-1 {
			ranges[last].Last = revision
		} else {
			ranges = append(ranges, wire.Range{First: revision, Last: revision})
		}
	}
	return wire.Pruned{
		DryRun: dryRun, Revisions: wire.Ranges{Count: len(pruned.Revisions), Ranges: ranges},
		Documents: pruned.Documents, Contents: pruned.Contents, Bytes: pruned.Bytes, Kept: pruned.Remaining,
	}
}

// tagViews maps the names of tags to their data.
func tagViews(tags []revisions.Tag) map[string]json.RawMessage {
	views := make(map[string]json.RawMessage, len(tags))
	for _, tag := range tags {
		views[tag.Name] = tag.Data
	}
	return views
}
