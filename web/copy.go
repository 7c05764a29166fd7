package web

import (
	"net/http"
	"strings"

	"purser/internal/client"
	"purser/internal/wire"
)

// copyView is the content of the page that copies a bucket from another site, and of its preview.
type copyView struct {
	*pageBuffer

	From    string // SITE@REVISION or SITE@REVISION/BUCKET
	Bucket  string // that the documents replace
	Message string
	Error   string // why there is no preview
	Action  string // where the form leads that makes the change
	previewed
	Findings []wire.Finding
	Rendered *wire.Rendered // nil if it is not known
	Shown    []renderedChange
}

// renderedChange is a difference that is the same in some rendered documents.
type renderedChange struct {
	Documents  []comparison // without differences of their own
	Difference *comparison
}

// copyHere previews what a copy of a bucket would change in one site and, once confirmed, copies it.
func (v *visit) copyHere() (view, error) {
	page := copyView{
		pageBuffer: v.pageBuffer, From: v.param("from"), Bucket: v.param("bucket"),
		Message: strings.TrimSpace(v.Form.Get("message")),
	}
	head := v.field("head")
	if v.Method != http.MethodPost { // a preview, which can be opened again
		if site := v.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
			return view{}, errForged // it would be in the audit
		}
		head = ""
	}
	shown := view{template: "copy", Title: "Copy from another site", Section: "copy"}
	if _, _, hasRevision := strings.Cut(page.From, "@"); !hasRevision || page.Bucket == "" {
		shown.Data = page
		return shown, nil
	}
	done, err := v.api.Put(v.Context(), page.Bucket, nil, client.Change{
		From: page.From, Message: page.Message, IfMatch: head, DryRun: head == "", MaxDeleted: -1,
		Findings: head == "" && v.may("deckhand:list_validations"),
		Rendered: head == "" && v.may("deckhand:show_revision_deepdiff"),
	})
	err = refused(err)
	switch {
	case refusedWith(err, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict) && head == "":
		page.Error = err.Error()
		shown.Data = page
		return shown, nil
	case err != nil:
		return view{}, err
	case head != "":
		v.goTo(v.Base.Link("revisions", done.Revision))
		return view{}, nil
	}
	if page.previewed, err = previewedBy(done); err != nil {
		return view{}, err
	}
	page.Action = v.Base.Query("copy", "from", page.From, "bucket", page.Bucket)
	v.reserve(len(page.Action) + perByte*len(page.Message))
	page.Findings, page.Rendered = page.Preview.Findings, page.Preview.Rendered
	if page.Rendered != nil {
		page.Shown = renderedChanges(*page.Rendered)
	}
	shown.Data = page
	return shown, nil
}

// renderedChanges returns what pages show of the differences of rendered documents.
func renderedChanges(rendered wire.Rendered) (all []renderedChange) {
	const most = 8000 // bytes of a difference
	for _, d := range rendered.Differences {
		shown := renderedChange{Difference: &comparison{}}
		if d.Diff != nil {
			shown.Difference = folded(*d.Diff, most)
		}
		switch {
		case d.Omitted:
			shown.Difference.Note = "The difference is too large to be shown."
		case d.Encrypted:
			shown.Difference.Note = "Data differ that are not shown, because a secret is among them."
		case d.Diff != nil && *d.Diff == "" && len(d.Documents) > 0 && d.Documents[0].Change != "moved":
			shown.Difference.Note = "Nothing in the data or metadata differs but the order of keys."
		}
		for _, doc := range d.Documents {
			shown.Documents = append(shown.Documents, comparison{Document: doc.Identity(), Change: wordFor(doc.Change)})
		}
		all = append(all, shown)
	}
	return all
}
