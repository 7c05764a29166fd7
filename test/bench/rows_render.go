package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// frozen is a store that returns documents that were read before, so that measurements do not include reading them.
type frozen struct {
	queries.Store

	documents []*revisions.Stored
}

// Around returns a neighbourhood in which the revision exists.
func (frozen) Around(context.Context, int64) (revisions.Neighbourhood, error) {
	return revisions.Neighbourhood{Exists: true}, nil
}

// AllDocuments returns the stored documents.
func (f frozen) AllDocuments(context.Context, int64, revisions.Stamp) (queries.Selected, error) {
	return queries.Selected{Documents: f.documents}, nil
}

// decode returns work that decodes the texts of all documents.
func (f frozen) decode(parse func(text []byte) (any, error)) func() {
	return func() {
		for _, doc := range f.documents {
			for _, text := range [][]byte{doc.Metadata, doc.Data} {
				_, err := parse(text)
				must("read a document", err)
			}
		}
	}
}

func wholeRevision() queries.Selection { return queries.Selection{Page: queries.Page{Limit: -1}} }

// render renders and validates a revision, without caching. It fails unless there are visible documents.
func render(ctx context.Context, service queries.View, revision int64, visible int) error {
	selected, err := service.Rendered(ctx, revision, wholeRevision())
	if err != nil {
		return fmt.Errorf("render: %w", err)
	}
	if len(selected.Documents) != visible {
		return fmt.Errorf("%w: %d rendered documents", errOther, len(selected.Documents))
	}
	return nil
}

// rendered measures row 11.
func (r *run) rendered() {
	site := r.layered()
	r.sayf("row 11: rendering %s", site.label)
	s := r.start("rendered")
	kept, engine := r.openStore(s.database), newEngine() // with the site's compiled schemas
	written, err := newService(kept, engine).Put(r.ctx, "site", site.body, document.YAML, revisions.Options{})
	must("take the site in", err)
	s.vacuum()
	found, err := kept.Documents(r.ctx, written.Revision, wholeRevision())
	must("read the site", err)
	stored := frozen{documents: found.Documents}
	documents := make([]*document.Document, len(stored.documents))
	for i, doc := range stored.documents {
		documents[i] = doc.Document
	}
	path := fmt.Sprintf("%s/%d/rendered-documents", allRevisions, written.Revision)
	answer := s.fetch(http.MethodGet, path, nil)
	visible := 1 + bytes.Count(answer, []byte("\n---\n"))

	rendering := func(kept queries.Store, engine *validations.Engine) {
		must("render", render(r.ctx, newQueries(kept, engine), written.Revision, visible))
	}
	decode := stored.decode(parseStandard)
	ingested := func() { rendering(stored, engine) }
	r.compare(11, compared{
		limit: 1.3, against: decode, measured: ingested,
		what: site.label + ": render and validate, schemas compiled as after its ingest, to decoding its JSON " +
			"(encoding/json, one goroutine)",
	}, compared{
		against: decode, measured: func() { rendering(stored, newEngine()) },
		what: site.label + ": the same with no schema compiled before",
	}, compared{
		against: stored.decode(document.ParseJSON), measured: ingested,
		what: site.label + ": the same to decoding its JSON with our own reader",
	}, compared{
		against: decode, measured: func() { renderDocuments(r.ctx, documents) },
		what: site.label + ": the same without validating",
	}, compared{
		against: decode, measured: func() { rendering(kept, engine) },
		what: site.label + ": the same with reading the documents from Postgres before",
	})

	request := message(http.MethodGet, path, nil)
	bare, cached := r.wires(r.startBare(answer), 1)[0], r.wires(s, 1)[0]
	r.compare(11, compared{
		limit: 2, repeats: often, against: func() { bare.send(request) }, measured: func() { cached.send(request) },
		what: fmt.Sprintf("%s: GET what was rendered before as YAML, %.1f KB, to writing the bytes through bare chi",
			site.label, float64(len(answer))/1000),
	})
}

// rerendered measures row 20: the first rendering after a change to a document on which no other depends, relative to
// the first rendering of the site. Each turn uses a new process that has stored the site and rendered nothing.
func (r *run) rerendered() {
	site := r.layered()
	r.sayf("row 20: rendering %s after a change", site.label)
	database, took := r.create("rerendered", "template1"), series{}
	for turn := range 1 + r.rounds {
		r.part(func(r *run) {
			s := r.startOn("rerendered", database)
			s.reset("")
			s.put("site", site.body)
			s.vacuum()
			for version, name := range []string{"first", "changed"} {
				s.put("note", note("note", version))
				took.time(name, func() { s.get(latest + "/rendered-documents?limit=-1") })
			}
		})
		if turn == 0 { // a warm-up
			clear(took)
		}
	}
	r.atMost(20, took["changed"].over(took["first"]), 0.15,
		site.label+": first GET of the rendered documents after one changed, to the first of all",
		"%s, %s", took["changed"], took["first"])
}

// family is the number of documents in three layers that share one document of the top layer.
const family = 10

// relatives writes n documents in three layers. Children select their parent by two labels, one of which all documents
// have.
func relatives(n int) string {
	var b strings.Builder
	b.WriteString(layerOrder)
	for i := range n {
		head := i / family * family // index of the family's top document
		f := frame{kind: "bench/Endpoint/v1", name: fmt.Sprintf("doc-%05d", i), labels: broad(i)}
		switch i % family {
		case 0:
			f.layer, f.abstract = "global", true
		case 1:
			f.layer, f.parent = "type", broad(head)
		default:
			f.layer, f.parent = "site", broad(head+1)
			f.links = []link{{f.kind, fmt.Sprintf("doc-%05d", head+1), ".host", ".proxy.host", ""}}
		}
		f.write(&b, fmt.Sprintf("\n  host: doc-%05d.example.com\n  limits: {memory: %d, cpu: %d}\n  paths: [/v1, /v%d]\n",
			i, 128+i, i%7, i%5))
	}
	return b.String()
}

// broad returns the labels of document i. All documents share the first one.
func broad(i int) string { return fmt.Sprintf("broad: all, key: doc-%05d", i) }

const (
	parentKeys  = 2_000 // of a parent
	mostActions = 50    // of a child
)

// broods writes a parent with many keys, and children that change it by the given number of actions each.
func broods(children, actions int) string {
	var b strings.Builder
	b.WriteString(layerOrder)
	var all, own strings.Builder
	for i := range parentKeys {
		fmt.Fprintf(&all, "\n  key%d: {host: key%[1]d.example.com, port: %[1]d}", i)
	}
	methods := make([]string, mostActions)
	for i := range mostActions {
		key := i * (parentKeys / mostActions)
		fmt.Fprintf(&own, "\n  key%d: {port: %d}", key, i)
		methods[i] = fmt.Sprintf("{method: %s, path: .key%d}", []string{"merge", "replace", "delete"}[i%3], key)
	}
	frame{kind: "bench/Endpoint/v1", name: "parent", layer: "global", labels: "key: parent"}.write(&b, all.String()+"\n")
	for i := range children {
		frame{
			kind: "bench/Endpoint/v1", name: fmt.Sprintf("child-%d", i), layer: "site", parent: "key: parent",
			actions: strings.Join(methods[:actions], ", "),
		}.write(&b, own.String()+"\n")
	}
	return b.String()
}

// growth measures row 12: rendering ten times the documents, and children with more actions.
func (r *run) growth() {
	const tenfold = 10
	few := r.wide / tenfold
	many := tenfold * few
	r.sayf("row 12: rendering %d and %d documents", few, many)
	one, all := r.renderer(relatives(few)), r.renderer(relatives(many))
	what := fmt.Sprintf("render %d documents in three layers, with one label on all of them, to %d ", many, few)
	r.compare(12, compared{
		// Repeat the smaller work, so that the garbage collector runs in turns of both sides.
		limit: 1.1, against: repeat(tenfold, one), measured: all, what: what + "ten times (11x of once)",
	}, compared{
		against: one, measured: all, what: what + "once, mostly without collecting garbage",
	}, compared{
		limit: 2, repeats: often, against: r.renderer(broods(1, 1)), measured: r.renderer(broods(1, mostActions)),
		what: fmt.Sprintf("render a child with %d actions on a parent of %d keys, to one with 1 action", mostActions,
			parentKeys),
	}, compared{
		against: r.renderer(broods(100, 1)), measured: r.renderer(broods(100, mostActions)),
		what: "the same with 100 children of that parent, which is read once",
	})
}

// renderer returns work that renders the documents in text.
func (r *run) renderer(text string) func() {
	documents, err := decodeAndCheck(r.ctx, []byte(text), unchecked{}, cores())
	must("read the documents", err)
	return func() { renderDocuments(r.ctx, documents) }
}
