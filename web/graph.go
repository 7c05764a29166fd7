package web

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"purser/internal/words"

	"purser/internal/client"
)

// neighbour is a document that depends on another one, or that the other one depends on.
type neighbour struct {
	client.Node

	Kinds []string
}

// Identity returns the document's identity.
func (n neighbour) Identity() client.Identity { return identityOf(n.Node) }

func identityOf(n client.Node) client.Identity {
	return client.Identity{Schema: n.Schema, Layer: n.Layer, Name: n.Name, Bucket: n.Bucket}
}

// focusName returns a document's name in the syntax of the parameter focus.
func focusName(id client.Identity) string {
	if id.Layer == "" {
		return id.Schema + "/" + id.Name
	}
	return id.Schema + "/" + id.Name + "/" + id.Layer
}

// neighbours reads the dependencies and the dependents of a document.
func (v *visit) neighbours(ctx context.Context, revision string, page *documentView) error {
	var found client.Graph
	query := url.Values{"format": {"json"}, "focus": {focusName(page.ID)}, "depth": {"1"}}
	err := v.api.get(ctx, &found, query, "revisions", revision, "graph")
	if err != nil && serious(err) == nil {
		page.Why = "Its neighbours are not known: " + err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	here := -1
	for _, n := range found.Nodes {
		if n.Schema == page.ID.Schema && n.Name == page.ID.Name && n.Layer == page.ID.Layer {
			here = n.ID
		}
	}
	page.Dependencies = linked(found, here, func(e client.Edge) (int, int) { return e.From, e.To })
	page.Dependents = linked(found, here, func(e client.Edge) (int, int) { return e.To, e.From })
	return nil
}

// linked returns the nodes at the other ends of a node's edges; ends determines their direction.
func linked(of client.Graph, here int, ends func(client.Edge) (from, to int)) (all []neighbour) {
	nodes, at := map[int]client.Node{}, map[int]int{}
	for _, n := range of.Nodes {
		nodes[n.ID] = n
	}
	for _, e := range of.Edges {
		from, to := ends(e)
		if from != here {
			continue
		}
		i, known := at[to]
		if !known {
			i, at[to] = len(all), len(all)
			all = append(all, neighbour{Node: nodes[to]})
		}
		all[i].Kinds = append(all[i].Kinds, e.Kind)
	}
	return all
}

// graphView is the content of the page of a graph.
type graphView struct {
	*paper

	Revision int64
	Focus    string
	Depth    int
	Picture  string        // its URL; "" if there is none
	Drawing  template.HTML // the picture; "" if it is loaded from its URL
	Why      string        // there is none
	Nodes    []node
	Count    int
	Hidden   int // nodes that are not listed
	Problems []string
	Filter   string
}

// node is a document of a graph in a list.
type node struct {
	client.Node

	Degree int // how many dependencies begin or end there
}

// Identity returns the document's identity.
func (n node) Identity() client.Identity { return identityOf(n.Node) }

// Focus returns the document's name in the syntax of the parameter focus.
func (n node) Focus() string { return focusName(identityOf(n.Node)) }

const (
	// readable is the maximum number of documents of a picture that is shown without being requested.
	readable = 200
	// listedNodes is the number of documents listed beside a picture.
	listedNodes = 200
	maxDepth    = 20
)

// graph shows the dependencies between the documents of a revision: as a picture if there are not too many, and as a
// list that links to the neighbourhood of each.
func (v *visit) graph() (view, error) {
	var revision client.Revision
	if err := v.api.get(v.Context(), &revision, nil, "revisions", v.PathValue("revision")); err != nil {
		return view{}, err
	}
	id := strconv.FormatInt(revision.ID, 10)
	page := graphView{paper: v.paper, Revision: revision.ID, Focus: v.param("focus"), Depth: 2, Filter: v.param("filter")}
	if depth, err := strconv.Atoi(v.param("depth")); err == nil {
		page.Depth = min(max(depth, 0), maxDepth)
	}
	query := url.Values{"format": {"json"}}
	if page.Focus != "" {
		query.Set("focus", page.Focus)
		query.Set("depth", strconv.Itoa(page.Depth))
	}
	shown := view{template: "graph", title: "Graph of revision " + id, section: "graph"}
	var found client.Graph
	err := v.api.get(v.Context(), &found, query, "revisions", id, "graph")
	if refusedWith(err, http.StatusNotFound, http.StatusRequestEntityTooLarge) {
		page.Why = err.Error()
		shown.data = page
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
	page.list(found)
	switch {
	case page.Count == 0:
		page.Why = "No document is in this graph."
	case page.Count <= readable || v.param("whole") != "":
		err = v.draw(&page, found, query)
	default:
		page.Why = "A picture of " + strconv.Itoa(page.Count) + " documents is hard to read."
	}
	shown.data = page
	return shown, err
}

// markPolicy marks the LayeringPolicy among the nodes of a revision as missing if it is that of another revision.
func (v *visit) markPolicy(revision string, nodes []client.Node) error {
	for i, n := range nodes {
		borrowed, err := v.borrowed(revision, identityOf(n))
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
func (v *visit) borrowed(revision string, id client.Identity) (bool, error) {
	if !strings.HasPrefix(id.Schema, "deckhand/LayeringPolicy/") {
		return false, nil
	}
	found, err := v.stored(v.Context(), revision, id)
	return found == nil && err == nil, serious(err)
}

// draw requests the picture of a graph. Documents link to their neighbourhood, and the one in focus to its page unless
// it is missing.
func (v *visit) draw(page *graphView, of client.Graph, query url.Values) error {
	id := strconv.FormatInt(page.Revision, 10)
	query.Set("format", "svg")
	got, err := v.api.do(v.Context(), call{path: []string{"revisions", id, "graph"}, query: query})
	if err != nil && (serious(err) == nil || refusedWith(err, http.StatusNotImplemented)) {
		page.Why = "No picture: " + err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	page.Picture = "graph.svg?" + query.Encode()
	if got.body.Len() > maxDrawing {
		return nil
	}
	label := "Graph of " + words.Count(page.Count, "document") + ", which are listed below"
	page.Drawing, err = drawing(got.body.Bytes(), label, func(focus string) string {
		if i := slices.IndexFunc(of.Nodes, func(n client.Node) bool { return focusName(identityOf(n)) == focus }); i >= 0 &&
			focus == page.Focus && of.Nodes[i].Missing == "" {
			return v.documentLink(id, identityOf(of.Nodes[i]))
		}
		return v.queryLink("revisions/"+id+"/graph", "focus", focus, "depth", page.Depth)
	})
	if err != nil {
		v.complain(v.Request, err) // the page has its list, and loads the picture
	}
	return nil
}

// list fills the list of nodes with those whose names contain the filter's text, sorted by descending number of
// dependencies.
func (page *graphView) list(found client.Graph) {
	degree := map[int]int{}
	for _, e := range found.Edges {
		degree[e.From]++
		degree[e.To]++
	}
	page.Count = len(found.Nodes)
	for _, n := range found.Nodes {
		if strings.Contains(strings.ToLower(n.Schema+"/"+n.Name), strings.ToLower(page.Filter)) {
			page.Nodes = append(page.Nodes, node{n, degree[n.ID]})
		}
	}
	slices.SortStableFunc(page.Nodes, func(a, b node) int { return b.Degree - a.Degree })
	if len(page.Nodes) > listedNodes {
		page.Hidden = len(page.Nodes) - listedNodes
		page.Nodes = page.Nodes[:listedNodes]
	}
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
		got, err := v.api.do(ctx, call{path: []string{"revisions", r.PathValue("revision"), "graph"}, query: query})
		return func() {
			for _, name := range []string{"Content-Type", "Content-Security-Policy"} {
				w.Header().Set(name, got.header.Get(name))
			}
			_, _ = w.Write(got.body.Bytes()) // the browser may have disconnected
		}, err
	})
}
