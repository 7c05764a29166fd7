package web

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// neighbours reads the dependencies and the dependents of a document.
func (v *visit) neighbours(ctx context.Context, revision string, id wire.Identity) (shown documentForm, err error) {
	var found wire.Graph
	query := url.Values{"format": {"json"}, "focus": {focusName(id)}, "depth": {"1"}}
	err = v.api.Get(ctx, &found, query, "revisions", revision, "graph")
	if err != nil && dropExpected(err) == nil {
		shown.Why = []string{"Its dependencies are not known: " + err.Error()}
		return shown, nil
	}
	shown.Dependencies, shown.Dependents = neighboursOf(found, id)
	return shown, err
}

// graphView is the content of the page of a graph.
type graphView struct {
	*pageBuffer

	Revision int64
	Focus    string
	Depth    int
	graphPicture
	Nodes    []graphNode
	Count    int
	Hidden   int // nodes that are not listed
	Problems []string
	Filter   string
}

// graphPicture is the picture of a graph.
type graphPicture struct {
	Picture string        // its URL; "" if there is none
	Drawing template.HTML // the picture; "" if it is loaded from its URL
	Why     string        // there is none
}

const (
	// readable is the maximum number of documents of a picture that is shown without being requested.
	readable = 200
	maxDepth = 20
)

// graph shows the dependencies between the documents of a revision: as a picture if there are not too many, and as a
// list that links to the neighbourhood of each.
func (v *visit) graph() (view, error) {
	var revision wire.Revision
	if err := v.api.Get(v.Context(), &revision, nil, "revisions", v.PathValue("revision")); err != nil {
		return view{}, err
	}
	id := strconv.FormatInt(revision.ID, 10)
	page := graphView{
		pageBuffer: v.pageBuffer, Revision: revision.ID, Focus: v.param("focus"), Depth: 2, Filter: v.param("filter"),
	}
	if depth, err := strconv.Atoi(v.param("depth")); err == nil {
		page.Depth = min(max(depth, 0), maxDepth)
	}
	query := url.Values{"format": {"json"}}
	if page.Focus != "" {
		query.Set("focus", page.Focus)
		query.Set("depth", strconv.Itoa(page.Depth))
	}
	shown := view{template: "graph", Title: "Graph of revision " + id, Section: "graph"}
	var found wire.Graph
	err := v.api.Get(v.Context(), &found, query, "revisions", id, "graph")
	if refusedWith(err, http.StatusNotFound, http.StatusRequestEntityTooLarge) {
		page.Why = words.Ended(err.Error())
		shown.Data = page
		return shown, nil
	}
	if err != nil {
		return view{}, err
	}
	if err := v.markPolicy(id, found.Nodes); err != nil {
		return view{}, err
	}
	for _, problem := range found.Problems {
		page.Problems = append(page.Problems, problem.Message)
	}
	page.Problems = page.Problems[:min(len(page.Problems), 20)] //nolint:mnd // some
	page.Count = len(found.Nodes)
	page.Nodes, page.Hidden = listNodes(found, page.Filter)
	switch {
	case page.Count == 0:
		page.Why = "No document is in this graph."
	case page.Count <= readable || v.param("whole") != "":
		page.graphPicture, err = v.draw(page, found, query)
	default:
		page.Why = "A picture of " + strconv.Itoa(page.Count) + " documents is hard to read."
	}
	shown.Data = page
	return shown, err
}

// markPolicy marks the LayeringPolicy among the nodes of a revision as missing if it is that of another revision.
func (v *visit) markPolicy(revision string, nodes []wire.Node) error {
	for i, n := range nodes {
		borrowed, err := v.borrowed(revision, n.Identity())
		if err != nil {
			return err
		}
		if borrowed && n.Missing == "" {
			nodes[i].Missing = "policy"
		}
	}
	return nil
}

// borrowed reports whether a document is the LayeringPolicy of another revision, which the API uses if the revision has
// none.
func (v *visit) borrowed(revision string, id wire.Identity) (bool, error) {
	if !strings.HasPrefix(id.Schema, "deckhand/LayeringPolicy/") {
		return false, nil
	}
	found, err := v.stored(v.Context(), revision, id)
	return found == nil && err == nil, dropExpected(err)
}

// draw requests the picture of a graph. Documents link to their neighbourhood, and the one in focus to its page unless
// it is missing.
func (v *visit) draw(page graphView, of wire.Graph, query url.Values) (made graphPicture, err error) {
	id := strconv.FormatInt(page.Revision, 10)
	query.Set("format", "svg")
	got, err := v.api.Do(v.Context(), client.Request{
		Path: []string{"revisions", id, "graph"}, Query: query, Accept: client.SVG,
	})
	if err != nil && (dropExpected(err) == nil || refusedWith(err, http.StatusNotImplemented)) {
		made.Why = words.Ended("No picture: " + err.Error())
		return made, nil
	}
	if err != nil {
		return made, err
	}
	made.Picture = "graph.svg?" + query.Encode()
	if len(got.Body) > maxDrawing {
		return made, nil
	}
	label := "Graph of " + words.Count(page.Count, "document") + ", which are listed below"
	here := slices.IndexFunc(of.Nodes, func(n wire.Node) bool {
		return focusName(n.Identity()) == page.Focus
	})
	made.Drawing, err = drawing(got.Body, label, func(focus string) string {
		if focus == page.Focus && here >= 0 && of.Nodes[here].Missing == "" {
			return v.Base.Document(id, of.Nodes[here].Identity())
		}
		return v.Base.Query("revisions/"+id+"/graph", "focus", focus, "depth", page.Depth)
	})
	if err != nil {
		v.logError(v.Request, err) // the page has its list, and loads the picture
	}
	return made, nil
}

// picture answers with the SVG of a graph, with links to pictures of other graphs.
func (s *server) picture(w http.ResponseWriter, r *http.Request) {
	s.answer(r.Context(), w, r, func(ctx context.Context, v *visit) (func(), error) {
		query := url.Values{"format": {"svg"}}
		for _, name := range []string{"focus", "depth"} {
			if value := v.param(name); value != "" {
				query.Set(name, value)
			}
		}
		got, err := v.api.Do(ctx, client.Request{
			Path: []string{"revisions", r.PathValue("revision"), "graph"}, Query: query, Accept: client.SVG,
		})
		return func() {
			for _, name := range []string{"Content-Type", "Content-Security-Policy"} {
				w.Header().Set(name, got.Header.Get(name))
			}
			_, _ = w.Write(got.Body) // the browser may have disconnected
		}, err
	})
}
