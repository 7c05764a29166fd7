package check

import (
	"context"
	"fmt"
	"slices"

	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/rendering"
	"purser/internal/revisions"
	"purser/internal/schemadocs"
	"purser/internal/validations"
)

// Site answers questions about the documents of one check. It never reveals the data of an encrypted document. It is
// safe for concurrent use.
type Site struct {
	checked   *run
	documents []*revisions.Stored // in the order of the items
	items     map[document.Identity]int
	schemas   map[string]int // items of the DataSchemas in force, by their names
}

func newSite(r *run, documents []*revisions.Stored) *Site {
	s := &Site{
		checked: r, documents: documents, items: make(map[document.Identity]int, len(documents)), schemas: map[string]int{},
	}
	for i, doc := range documents {
		s.items[doc.Identity] = i
	}
	for _, doc := range changes.SchemasInForce(documents) {
		s.schemas[doc.Name] = s.items[doc.Identity]
	}
	return s
}

// ask begins a question, with a budget and a run of its own.
func (s *Site) ask(ctx context.Context) (_ context.Context, r *run, end func()) {
	ctx, end = begin(ctx, s.checked.files)
	own := *s.checked
	own.meter = budget.NewMeter(ctx)
	return ctx, &own, end
}

// Documents returns the identities of all documents, in the order of the files.
func (s *Site) Documents() []document.Identity {
	all := make([]document.Identity, len(s.documents))
	for i, doc := range s.documents {
		all[i] = doc.Identity
	}
	return all
}

// Layers returns the layers that the LayeringPolicies list, except encrypted ones.
func (s *Site) Layers() (layers []string) {
	for i, doc := range s.documents {
		if !doc.IsLayeringPolicy() || s.checked.isEncrypted(i) {
			continue
		}
		data, _ := document.ParseJSON(doc.Data)
		order, _ := document.Locate(data, []string{"layerOrder"}).([]any)
		for _, layer := range order {
			if name, ok := layer.(string); ok {
				layers = append(layers, name)
			}
		}
	}
	return layers
}

// Kinds returns the schemas that documents can have: those with a DataSchema and the built-in ones, sorted.
func (s *Site) Kinds() []string {
	kinds := []string{validations.DataSchemaKind}
	for kind := range s.schemas {
		kinds = append(kinds, kind)
	}
	for _, builtIn := range []map[string][]byte{validations.BuiltIn(), validations.Provided()} {
		for kind := range builtIn {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// Schema returns the schema that documents of a kind are checked by, as written: that of a DataSchema, or else a
// built-in one. It is nil if there is none, or if the DataSchema is encrypted.
func (s *Site) Schema(kind string) document.Mapping {
	text := validations.Provided()[kind]
	if builtIn, ok := validations.BuiltIn()[kind]; ok {
		text = builtIn
	} else if item, ok := s.schemas[kind]; ok {
		if text = s.documents[item].Data; s.checked.isEncrypted(item) {
			return nil
		}
	}
	schema, _ := document.ParseJSON(text)
	root, _ := schema.(document.Mapping)
	return root
}

// About returns what schemas say about a path of a document, and the kind or the metadata that the schema is for; "" if
// there is none.
func (s *Site) About(ctx context.Context, of Spot, path []string) (about schemadocs.About, name string, err error) {
	var schema document.Mapping
	switch {
	case len(path) == 0:
	case path[0] == "metadata":
		name = of.Text("metadata", "schema")
		read, _ := document.ParseJSON(validations.MetadataSchema(name))
		schema, _ = read.(document.Mapping)
	case path[0] == "data":
		name = of.Text("schema")
		schema = s.Schema(name)
	}
	if schema == nil {
		return about, "", nil
	}
	ctx, _, end := s.ask(ctx)
	defer end()
	about, err = schemadocs.At(ctx, schemadocs.Page{Name: name, Schema: schema}, path[1:])
	return about, name, err
}

// DataSchema returns the DataSchema in force for a kind.
func (s *Site) DataSchema(kind string) (id document.Identity, ok bool) {
	item, ok := s.schemas[kind]
	if ok {
		id = s.documents[item].Identity
	}
	return id, ok
}

// Place returns where the value at a path of a document is written; see document.Positions. It is the beginning of a
// document whose data is encrypted. ok is false if there is no such document.
func (s *Site) Place(ctx context.Context, id document.Identity, path []string) (at Place, ok bool) {
	item, ok := s.items[id]
	if !ok {
		return Place{}, false
	}
	_, r, end := s.ask(ctx)
	defer end()
	return r.openPlace(item, path), true
}

// openPlace returns the place of the value at a path of an item, or the beginning of an encrypted document.
func (r *run) openPlace(item int, path []string) Place {
	if r.isEncrypted(item) {
		path = nil
	}
	return r.place(r.of[item], r.position(item, path))
}

// Dependency is a document that another one depends on.
type Dependency struct {
	document.Identity

	IsParent bool // or the replacement of a parent; else the source of a substitution
}

// Dependencies returns the documents that a document inherits from or takes values out of, as rendering chooses them.
// Errors come from the budget or the context.
func (s *Site) Dependencies(ctx context.Context, id document.Identity) (found []Dependency, err error) {
	ctx, _, end := s.ask(ctx)
	defer end()
	graph, err := rendering.Dependencies(ctx, revisions.Contents(s.documents))
	if err != nil {
		return nil, fmt.Errorf("look up what documents depend on: %w", err)
	}
	for _, edge := range graph.Edges {
		if to := graph.Vertices[edge.To]; graph.Vertices[edge.From].Identity == id && to.Index >= 0 {
			found = append(found, Dependency{to.Identity, edge.Kind != rendering.Substitution})
		}
	}
	return found, nil
}

// Origin is where the value at a path in the rendered data of a document comes from.
type Origin struct {
	Value    string // JSON text, perhaps abridged; empty if it is no scalar, or a secret
	IsSecret bool   // it is from an encrypted document
	// Documents wrote parts of the value, the first part first. Place is where it is written, if there is only one.
	Documents []document.Identity
	Place     Place
	Steps     []Step // by which a scalar came from there, the oldest first
	IsOwn     bool   // it is written in the document itself, and nothing of others was put into it
}

// Origin returns where a value of a document comes from. ok is false if the document does not render, has no value at
// that path then, is encrypted, or has too many values to explain them.
func (s *Site) Origin(ctx context.Context, id document.Identity, path []string) (origin Origin, ok bool) {
	const longest = 200 // of Value, in bytes
	item, ok := s.items[id]
	if !ok || s.checked.isEncrypted(item) {
		return origin, false
	}
	ctx, r, end := s.ask(ctx)
	defer end()
	x := &tracer{run: r, documents: s.documents}
	leaves := x.leaves(ctx, item, path)
	if len(leaves) == 0 {
		return origin, false
	}
	for _, leaf := range leaves {
		if id := s.documents[leaf.Document].Identity; !slices.Contains(origin.Documents, id) {
			origin.Documents = append(origin.Documents, id)
		}
	}
	first := &leaves[0]
	origin.IsOwn = !slices.ContainsFunc(leaves, func(leaf rendering.Leaf) bool {
		return leaf.Document != item || slices.ContainsFunc(leaf.Steps, func(step rendering.Step) bool {
			return step.Kind == rendering.Inserted
		})
	})
	if len(plain(first.Parts)) == len(path) {
		for _, step := range first.Steps {
			origin.Steps = append(origin.Steps, x.step(step))
		}
		if origin.IsSecret = first.Secret; !first.Secret {
			origin.Value = string(document.ShortJSON(first.Value, longest))
		}
	}
	if len(origin.Documents) == 1 {
		at := []string{"data"}
		if len(origin.Steps) > 0 && !first.Secret {
			at = append(at, document.SplitPath(first.Path)...)
		} else if first.Document == item {
			at = append(at, path...)
		}
		origin.Place = r.openPlace(first.Document, at)
	}
	return origin, true
}
