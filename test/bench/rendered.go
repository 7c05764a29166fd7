package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
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

func everything() queries.Selection { return queries.Selection{Page: queries.Page{Limit: -1}} }

// rendered is a server with a layered site, and the parts of it that are used in process.
type rendered struct {
	*server
	layered

	kept     *store.Store
	engine   *validations.Engine // with the site's compiled schemas
	revision int64
	stored   frozen
	answer   []byte // all rendered documents
	visible  int    // number of rendered documents
}

// rendered measures row 11.
func (b *bench) rendered(ctx context.Context) (err error) {
	site, err := b.layered(ctx)
	if err != nil {
		return err
	}
	b.sayf("row 11: rendering %s", site.label)
	s, err := b.start(ctx, "rendered")
	if err != nil {
		return err
	}
	r := &rendered{server: s, layered: site, engine: validations.NewEngine(validations.Options{})}
	defer func() { err = r.stop(err) }()
	if err := r.ingest(ctx); err != nil {
		return err
	}
	if err := b.renderings(ctx, r); err != nil {
		return err
	}
	return b.cachedGET(ctx, r)
}

// ingest stores the site as the server would, and reads its documents.
func (r *rendered) ingest(ctx context.Context) (err error) {
	if r.kept, err = openStore(ctx, r.db.Config().ConnString()); err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	service := newService(r.kept, r.engine)
	written, err := service.Put(ctx, "site", r.body, document.YAML, revisions.Options{})
	if err != nil {
		return fmt.Errorf("take the site in: %w", err)
	}
	r.revision = written.Revision
	if err := vacuum(ctx, r.db); err != nil {
		return err
	}
	found, err := r.kept.Documents(ctx, r.revision, everything())
	if err != nil {
		return fmt.Errorf("read the site: %w", err)
	}
	r.stored.documents = found.Documents
	var answer bytes.Buffer
	if err := r.send(ctx, http.MethodGet, r.path(), nil, &answer); err != nil {
		return err
	}
	r.answer = answer.Bytes()
	r.visible = 1 + bytes.Count(r.answer, []byte("\n---\n"))
	return nil
}

func (r *rendered) path() string {
	return fmt.Sprintf("%s/revisions/%d/rendered-documents", api, r.revision)
}

func (r *rendered) stop(err error) error {
	if r.kept != nil {
		r.kept.Close()
	}
	return r.server.stop(err)
}

// render returns work that renders and validates a revision, without caching. It fails unless there are visible
// documents.
func render(ctx context.Context, service queries.View, revision int64, visible int) func() error {
	return func() error {
		selected, err := service.Rendered(ctx, revision, everything())
		if err != nil {
			return fmt.Errorf("render: %w", err)
		}
		if len(selected.Documents) != visible {
			return fmt.Errorf("%w: %d rendered documents", errOther, len(selected.Documents))
		}
		return nil
	}
}

func (r *rendered) render(ctx context.Context, kept queries.Store, engine *validations.Engine) func() error {
	return render(ctx, newQueries(kept, engine), r.revision, r.visible)
}

// unvalidated returns work that renders without validating.
func (f frozen) unvalidated(ctx context.Context) func() error {
	documents := make([]*document.Document, len(f.documents))
	for i, doc := range f.documents {
		documents[i] = doc.Document
	}
	return func() error { return renderAll(ctx, documents) }
}

// decode returns work that decodes the texts of all documents with read.
func (f frozen) decode(read func(text []byte) (any, error)) func() error {
	return func() error {
		for _, doc := range f.documents {
			for _, text := range [][]byte{doc.Metadata, doc.Data} {
				if _, err := read(text); err != nil {
					return fmt.Errorf("read document %s: %w", doc.Identity, err)
				}
			}
		}
		return nil
	}
}

// standard decodes JSON with encoding/json.
func standard(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err //nolint:wrapcheck // wrapped by the caller
}

func (b *bench) renderings(ctx context.Context, r *rendered) error {
	decode := r.stored.decode(standard)
	ingested := r.render(ctx, r.stored, r.engine)
	forgotten := func() error { return r.render(ctx, r.stored, validations.NewEngine(validations.Options{}))() }
	what := r.label + ": render and validate, schemas compiled as after its ingest, to decoding its JSON "
	return b.compareAll([]compared{
		{row: 11, limit: 1.3, against: decode, measured: ingested, what: what + "(encoding/json, one goroutine)"},
		{
			row: 11, against: decode, measured: forgotten,
			what: r.label + ": the same with no schema compiled before",
		},
		{
			row: 11, against: r.stored.decode(document.ParseJSON), measured: ingested,
			what: r.label + ": the same to decoding its JSON with our own reader",
		},
		{
			row: 11, against: decode, measured: r.stored.unvalidated(ctx),
			what: r.label + ": the same without validating",
		},
		{
			row: 11, against: decode, measured: r.render(ctx, r.kept, r.engine),
			what: r.label + ": the same with reading the documents from Postgres before",
		},
	})
}

// cachedGET compares requests for cached rendered documents with the same bytes from a bare server.
func (b *bench) cachedGET(ctx context.Context, r *rendered) (err error) {
	bare, err := b.startBare(ctx, r.answer)
	if err != nil {
		return err
	}
	defer func() { err = bare.stop(err) }()
	get, closeGet, err := r.getter(ctx, r.path())
	if err != nil {
		return err
	}
	defer closeGet()
	write, closeWrite, err := bare.getter(ctx, r.path())
	if err != nil {
		return err
	}
	defer closeWrite()
	return b.compare(compared{
		row: 11, limit: 2, repeats: often, against: write, measured: get,
		what: fmt.Sprintf("%s: GET what was rendered before as YAML, %.1f KB, to writing the bytes through bare chi", r.label,
			float64(len(r.answer))/1000),
	})
}

// getter returns work that repeats one request.
func (s *server) getter(ctx context.Context, path string) (get func() error, closeAll func(), err error) {
	clients, closeAll, err := s.wires(ctx, 1)
	if err != nil {
		return nil, nil, err
	}
	request := message(http.MethodGet, path, nil)
	return func() error { return clients[0].send(request) }, closeAll, nil
}
