package api

import (
	"encoding/json"
	"net/http"

	"purser/internal/authz"
	"purser/internal/changes"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/wire"
)

// renderedAsked reads whether a change asks for the rendered documents that it would change, which needs the right to
// compare revisions, and for their diffs.
func (s *server) renderedAsked(r *http.Request, q *params, dryRun bool) (rendered, diffs bool, err error) {
	rendered = q.flag("rendered", false)
	if rendered && !dryRun {
		q.fail("rendered", "It needs dry-run=true.")
	}
	if err := q.err(); err != nil {
		return false, false, err
	}
	if rendered {
		if err := s.require(r, authz.ShowRevisionDeepDiff); err != nil {
			return false, false, err
		}
	}
	diffs, err = s.diffsAsked(r, rendered, "It needs rendered=true.")
	return rendered, diffs, err
}

// groupRendered groups the rendered documents that a dry run would change; nil if they were not asked for.
func groupRendered(r *http.Request, preview *changes.Preview) (*wire.Rendered, error) {
	if preview.Rendered == nil {
		return nil, nil
	}
	options := queries.GroupOptions{Diffs: paramsOf(r).text("diff") != "", Page: queries.Page{Limit: -1}}
	grouped, err := options.Group(r.Context(), preview.Rendered.Documents)
	if err != nil {
		return nil, err
	}
	grouped.Unrendered = preview.Rendered.Unrendered
	return new(renderedView(grouped)), nil
}

// renderedView returns the view of grouped documents.
func renderedView(grouped queries.Grouped) wire.Rendered {
	view := wire.Rendered{
		Count: grouped.Total(), Created: grouped.Counts[revisions.Created], Deleted: grouped.Counts[revisions.Deleted],
		Modified: grouped.Counts[revisions.Modified], Moved: grouped.Counts[revisions.Moved],
		Differences: []wire.RenderedDifference{}, Unlisted: grouped.Unlisted,
	}
	for _, group := range grouped.Groups {
		shown := wire.RenderedDifference{Diff: group.Diff, Omitted: group.Omitted, Encrypted: group.Encrypted}
		for _, d := range group.Documents {
			shown.Documents = append(shown.Documents, differenceView(d))
		}
		view.Differences = append(view.Differences, shown)
	}
	for _, side := range grouped.Unrendered {
		name := "before"
		if side.After {
			name = "after"
		}
		view.Unrendered = append(view.Unrendered, wire.UnrenderedSide{
			Side: name, Revision: side.Revision, Type: side.Cause.Type, Message: side.Cause.Message,
			Errors: messagesText(side.Cause),
		})
	}
	return view
}

// messagesText returns the messages of a fault as JSON.
func messagesText(f *fault.Fault) json.RawMessage {
	text, err := json.Marshal(messageList(f))
	if err != nil {
		return json.RawMessage("[]")
	}
	return text
}

// failingView returns the view of the documents that begin to fail, nil if none does.
func failingView(begin changes.BeginToFail) *wire.Failing {
	if len(begin.Documents) == 0 && !begin.More {
		return nil
	}
	view := wire.Failing{Count: len(begin.Documents), More: begin.More, Documents: []wire.Identity{}}
	listed, _ := authz.First(begin.Documents)
	for _, doc := range listed {
		view.Documents = append(view.Documents, wire.Identity{
			Schema: doc.Schema, Layer: wire.Optional(doc.Layer), Name: doc.Name, Bucket: wire.Optional(doc.Bucket),
		})
	}
	return &view
}
