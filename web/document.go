package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"purser/internal/client"
	"purser/internal/diff"
	"purser/internal/document"
	"purser/internal/wire"
)

// documentView is the content of the page of a document. Only one of its parts is filled, the one named by As.
type documentView struct {
	*pageBuffer

	Revision wire.Revision
	ID       wire.Identity
	Stored   *wire.Document // nil if the revision has no such document
	As       string         // written, rendered, explained, history or graph
	Secrets  bool           // they are shown
	Path     string
	Schema   bool           // the revision has its schema
	About    []wire.Finding // not about any line that is shown
	Total    int            // of findings
	Rest     int            // of these, that are not shown
	Beyond   bool           // there may be others, which were not examined

	Page, Pages int // of lines
	documentForm
}

// documentForm is a form in which a document is shown. Only its parts are filled.
type documentForm struct {
	Lines        []line
	File         string      // the path of the file that it was pushed from, "" if that is not known
	Note         string      // why the lines are not those that were pushed, "" if they are
	Why          []string    // nothing is shown
	From         string      // the revision to compare the rendered document with; "" for none
	Rendered     *comparison // nil if there is no difference
	Leaves       []wire.Leaf
	Parents      []wire.Version
	Changes      []change
	More         pager
	Dependencies []neighbour
	Dependents   []neighbour
}

// change is a change in the history of a document.
type change struct {
	wire.DocumentChange

	Comparison *comparison
}

// Forms returns the forms in which a document is shown.
func (documentView) Forms() []string {
	return []string{"written", "rendered", "explained", "history", "graph"}
}

// Focus returns the document's name in the syntax of a graph's parameter focus.
func (page documentView) Focus() string { return focusName(page.ID) }

// document shows a document of a revision.
func (v *visit) document() (view, error) {
	id := wire.Identity{Schema: v.param("schema"), Layer: wire.Optional(v.param("layer")), Name: v.param("name")}
	page := documentView{
		pageBuffer: v.pageBuffer, ID: id, As: v.param("as"), Path: v.param("path"), Secrets: v.param("secrets") == "shown",
	}
	if !slices.Contains(page.Forms(), page.As) {
		page.As = "written"
	}
	if id.Schema == "" || id.Name == "" {
		return view{}, &refusal{
			Status: http.StatusBadRequest, Message: "The link names no document: it needs a schema and a name.",
		}
	}
	if err := v.api.Get(v.Context(), &page.Revision, nil, "revisions", v.PathValue("revision")); err != nil {
		return view{}, err
	}
	revision := strconv.FormatInt(page.Revision.ID, 10)
	var found wire.Findings
	err := together(v.Context(),
		func(ctx context.Context) (err error) {
			page.Stored, err = v.stored(ctx, revision, id)
			return err
		},
		func(ctx context.Context) error {
			query := v.secrets(url.Values{"document": {findingName(id)}, "limit": {"200"}})
			return dropExpected(v.api.Get(ctx, &found, query, "revisions", revision, "findings"))
		},
		func(ctx context.Context) error {
			path := append([]string{"revisions", revision, "schemas"}, schemaParts(id)...)
			_, err := v.api.Text(ctx, client.YAML, nil, path...)
			page.Schema = err == nil
			return dropExpected(err)
		},
		func(ctx context.Context) (err error) {
			page.documentForm, err = v.form(ctx, revision, page.As, id)
			return err
		},
	)
	if err != nil {
		return view{}, err
	}
	if page.Stored == nil && page.As != "history" {
		return view{}, &refusal{
			Status:  http.StatusNotFound,
			Message: "Revision " + revision + " has no document " + id.String() + ", or it is one that you may not see.",
		}
	}
	page.Total, page.Rest, page.Beyond = found.Total, found.Total-len(found.Findings), found.More
	v.place(&page, found.Findings)
	return view{
		template: "document", Title: id.Name + " in revision " + revision, Section: "revisions", Data: page,
	}, nil
}

// secrets adds to a query whether to show secrets, which only happens if the link asks for them.
func (v *visit) secrets(query url.Values) url.Values {
	query.Set("cleartext-secrets", strconv.FormatBool(v.param("secrets") == "shown"))
	return query
}

// findingName returns a document's name in the syntax of the findings parameter.
func findingName(id wire.Identity) string {
	if id.Layer == "" {
		return id.Schema + "/" + id.Name
	}
	return id.Schema + "/" + string(id.Layer) + "/" + id.Name
}

// selecting returns the query that selects a document.
func (v *visit) selecting(id wire.Identity) url.Values {
	query := url.Values{"schema": {id.Schema}, "metadata.name": {id.Name}}
	if id.Layer != "" {
		query.Set("metadata.layeringDefinition.layer", string(id.Layer))
	}
	return v.secrets(query)
}

// stored returns a document, nil if the revision does not have it or the user may not see it.
func (v *visit) stored(ctx context.Context, revision string, id wire.Identity) (*wire.Document, error) {
	var all []wire.Document
	if err := v.api.Get(ctx, &all, v.selecting(id), "revisions", revision, "documents"); err != nil {
		return nil, err
	}
	for i, doc := range all {
		if doc.Identity().Plain() == id.Plain() {
			return &all[i], nil
		}
	}
	return nil, nil
}

const unrendered = "Abstract documents and those that control the server are not rendered."

// form requests a form of a document.
func (v *visit) form(ctx context.Context, revision, as string, id wire.Identity) (documentForm, error) {
	from := v.param("from")
	switch {
	case as == "written":
		return v.asWritten(ctx, revision, id)
	case as == "explained":
		return v.explained(ctx, revision, id)
	case as == "history":
		return v.past(ctx, id)
	case as == "graph":
		return v.neighbours(ctx, revision, id)
	case as == "rendered" && from != "":
		return v.renderedChange(ctx, from, revision, id)
	}
	shown := documentForm{From: from}
	text, err := v.api.Text(ctx, client.YAML, v.selecting(id), "revisions", revision, "rendered-documents")
	if refusedWith(err, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict,
		http.StatusInternalServerError) {
		shown.Why = []string{"The documents of this revision cannot be rendered: " + err.Error()}
		return shown, nil
	}
	text = firstDocument(text)
	if text == "" {
		shown.Why = []string{unrendered}
	}
	if text != "" {
		shown.Lines = numberedLines(text, 1)
	}
	return shown, err
}

// submitted returns a document as it was pushed; nil if the revision does not have it or the user may not see it.
func (v *visit) submitted(ctx context.Context, revision string, id wire.Identity) (*document.File, error) {
	query := v.selecting(id)
	query.Set("form", "submitted")
	text, err := v.api.Text(ctx, client.Text, query, "revisions", revision, "documents")
	if err != nil {
		return nil, err
	}
	files, _, err := document.Files([]byte(text), 1)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	return &files[0], nil
}

// asWritten shows a document with the lines of its file. Lines that no page can show are shown in its canonical form.
func (v *visit) asWritten(ctx context.Context, revision string, id wire.Identity) (shown documentForm, err error) {
	file, err := v.submitted(ctx, revision, id)
	if err != nil || file == nil {
		return shown, err
	}
	shown.File, shown.Note = file.Path, file.Why
	shown.Lines = numberedLines(string(file.Text), max(file.Line, 1))
	isLong := func(l line) bool { return len(l.Text) > shownLine.characters }
	if file.Why != "" || !slices.ContainsFunc(shown.Lines, isLong) {
		return shown, nil
	}
	text, err := v.api.Text(ctx, client.YAML, v.selecting(id), "revisions", revision, "documents")
	shown.Note = "some of its lines are too long for this page; the download has them"
	shown.Lines = numberedLines(firstDocument(text), 1)
	return shown, err
}

// renderedChange compares the rendered document with the one of another revision.
func (v *visit) renderedChange(ctx context.Context, from, revision string, id wire.Identity) (documentForm, error) {
	shown, names, texts := documentForm{From: from}, [2]string{from, revision}, [2]string{}
	refused, err := bothSides(ctx, func(ctx context.Context, side int) error {
		text, err := v.api.Text(ctx, client.YAML, v.selecting(id), "revisions", names[side], "rendered-documents")
		texts[side] = changing.ReplaceAllString(firstDocument(text), "")
		return cannotRender(names[side], err)
	})
	for _, err := range refused {
		if err != nil {
			shown.Why = append(shown.Why, err.Error())
		}
	}
	if err != nil || shown.Why != nil {
		return shown, err
	}
	if texts == [2]string{} {
		shown.Why = []string{unrendered}
		return shown, nil
	}
	text, err := diff.Unified(ctx, "revision "+from, "revision "+revision, texts[0], texts[1])
	if err == nil {
		shown.Rendered = firstComparison(text, maxLines)
	}
	return shown, err
}

// changing matches the parts of a document's text that differ in each revision: its id and its status.
var changing = regexp.MustCompile(`(?m)^id: \d+\n|^status:\n(?:  .*\n?)+`)

// firstDocument returns the first document of a YAML stream without its separator line.
func firstDocument(stream string) string {
	text := strings.TrimPrefix(stream, "---\n")
	if strings.TrimSpace(text) == "[]" {
		return ""
	}
	first, _, _ := strings.Cut(text, "\n---\n")
	return first
}

// place attaches findings to the lines that they are about, and keeps only the requested page of lines.
func (v *visit) place(page *documentView, found []wire.Finding) {
	if len(page.Lines) == 0 {
		page.About = found
		return
	}
	texts := make([]string, len(page.Lines))
	for i, l := range page.Lines {
		texts[i] = l.Text
	}
	page.About = attach(v.Context(), strings.Join(texts, "\n"), page.Lines, found, page.Path)
	number, _ := strconv.Atoi(v.param("page")) // another one: that of the path
	link := v.Base.Document(page.Revision.ID, page.ID)
	page.Lines, page.Page, page.Pages = pageOfDocument(page.Lines, number, len(link))
}

// schemaParts returns the namespace, kind and version of a document's schema.
func schemaParts(id wire.Identity) []string { return strings.SplitN(id.Schema, "/", 3) } //nolint:mnd // see above

// past requests the history of a document.
func (v *visit) past(ctx context.Context, id wire.Identity) (shown documentForm, err error) {
	const limit = 20
	shown.More = newPager(v.URL, limit)
	layer := cmp.Or(id.Layer, "-")
	path := append(append([]string{"documents"}, schemaParts(id)...), string(layer), id.Name, "history")
	var found wire.List[wire.DocumentChange]
	query := v.secrets(url.Values{"limit": {strconv.Itoa(limit)}, "offset": {strconv.Itoa(shown.More.Offset)}})
	if err := v.api.Get(ctx, &found, query, path...); err != nil {
		return shown, err
	}
	for _, c := range found.Results {
		c.Change = wordFor(c.Change)
		shown.Changes = append(shown.Changes, change{c, firstComparison(c.Diff, maxLines/2)})
	}
	shown.More.End(len(shown.Changes), found.Next != nil)
	return shown, nil
}

// download answers with a document as it was written, as YAML.
func (s *server) download(w http.ResponseWriter, r *http.Request) {
	s.answer(r.Context(), w, r, func(ctx context.Context, v *visit) (func(), error) {
		id := wire.Identity{Schema: v.param("schema"), Layer: wire.Optional(v.param("layer")), Name: v.param("name")}
		revision, text := r.PathValue("revision"), ""
		var err error
		if v.param("as") == "rendered" {
			text, err = v.api.Text(ctx, client.YAML, v.selecting(id), "revisions", revision, "rendered-documents")
		} else if file, failed := v.submitted(ctx, revision, id); file != nil || failed != nil {
			if err = failed; err == nil {
				text = string(file.Text)
			}
		}
		return func() {
			w.Header().Set("Content-Type", client.YAML)
			w.Header().Set("Content-Disposition", `attachment; filename="document.yaml"`)
			_, _ = w.Write([]byte(text)) // the browser may have disconnected
		}, err
	})
}
