package queries

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/authz"
	"purser/internal/changes"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/revisions/revisionstest"
	"purser/internal/validations"
)

// filtered is a store that selects by schema, name and label, and counts the documents that it returns.
type filtered struct {
	*site

	fallback *revisions.Stored // the LayeringPolicy for a revision without one

	live  int // documents of the newest revision, as the store says
	read  int // documents that Documents returned
	whole int // calls that returned all documents
}

func (s *filtered) Around(ctx context.Context, revision int64) (revisions.Neighbourhood, error) {
	around, err := s.site.Around(ctx, revision)
	around.Live = s.live
	return around, err
}

func (s *filtered) matches(doc *revisions.Stored, selection Selection) bool {
	ofSchema := func(schema string) bool { return doc.Schema == schema || strings.HasPrefix(doc.Schema, schema+"/") }
	isMissing := func(label Label) bool { return doc.Traits().Labels.At(label.Key) != label.Value }
	return (selection.Schemas == nil || slices.ContainsFunc(selection.Schemas, ofSchema)) &&
		(selection.Names == nil || slices.Contains(selection.Names, doc.Name)) &&
		!slices.ContainsFunc(selection.Labels, isMissing) && (!selection.Cleartext || !doc.Traits().Encrypted)
}

func (s *filtered) Documents(_ context.Context, revision int64, selection Selection) (Selected, error) {
	found := slices.DeleteFunc(slices.Clone(s.documents[revision]), func(doc *revisions.Stored) bool {
		return !s.matches(doc, selection)
	})
	if selected := selection.Of(found); !selection.restricts() {
		s.whole++
		return Selected{Documents: selected.Documents, Stamp: s.stamp}, nil
	}
	found = selection.Of(found).Documents
	s.read += len(found)
	return Selected{Documents: found, Stamp: s.stamp}, nil
}

func (s *filtered) FallbackPolicy(context.Context, int64) (*revisions.Stored, error) {
	return s.fallback, nil
}

func (s *filtered) AllDocuments(ctx context.Context, revision int64, _ revisions.Stamp) (Selected, error) {
	return s.Documents(ctx, revision, Selection{Page: Page{Limit: -1}})
}

func (s *filtered) Ranks(_ context.Context, revision int64, selection Selection) (map[int64]int, error) {
	ranks := map[int64]int{}
	for _, doc := range s.documents[revision] {
		if s.matches(doc, selection) {
			ranks[doc.ID] = 0
		}
	}
	return ranks, nil
}

// judged returns a store with one revision, judged as when it is made, which the store says has so many documents.
// fallback is the LayeringPolicy of another revision; it may be nil.
func judged(t *testing.T, body string, fallback *revisions.Stored, live int) *filtered {
	t.Helper()
	documents := revisionstest.Parsed(t, body)
	earlier := fallback
	if fallback != nil && fallback.Revision > 1 {
		earlier = nil
	}
	renderer := changes.Renderer{Engine: validations.NewEngine(validations.Options{})}
	result, _, err := renderer.ValidateRevision(t.Context(), validations.RenderingValidation, 1, documents, earlier)
	if err != nil {
		t.Fatal(err)
	}
	return &filtered{live: live, fallback: fallback, site: &site{
		revisions: []revisions.Revision{{ID: 1}},
		documents: map[int64][]*revisions.Stored{1: documents},
		outcomes:  map[int64][]validations.Outcome{1: {result.Outcome(authz.Viewer{})}},
	}}
}

// answer is what a viewer gets to see of a selection.
type answer struct {
	Documents   []string
	More        bool
	Provisional bool
	Err         string
	Messages    []fault.Message
}

func answerOf(t *testing.T, s Store, viewer authz.Viewer, selection Selection) (a answer) {
	t.Helper()
	found, err := serviceOf(s).For(viewer).Rendered(t.Context(), 1, selection)
	if problem, ok := errors.AsType[*fault.Fault](err); ok {
		a.Messages = viewer.Messages(problem.Messages)
	}
	if err != nil {
		a.Err = err.Error()
	}
	for _, doc := range found.Documents {
		a.Documents = append(a.Documents, fmt.Sprintf("%s #%d %s tainted=%t %s %s %x", doc.Identity, doc.ID, doc.Bucket,
			doc.Tainted, doc.Metadata, doc.Data, doc.Digest))
	}
	a.More, a.Provisional = found.More, found.Provisional
	return a
}

// made is a document that anySite has generated.
type made struct {
	layer        int
	schema, name string
	isAbstract   bool
}

// threeLayers is a LayeringPolicy.
var threeLayers = strings.Replace(layeringPolicy, "[global, site]", "[l0, l1, l2]", 1)

// anySite generates a site of three layers, with parents, replacements, chains of substitutions, patterns, abstract
// and encrypted documents and a DataSchema; sometimes one that does not render.
func anySite(t *rapid.T) (body string) {
	if !chance(t, "no policy", 4) {
		body = threeLayers
	}
	if chance(t, "schema", 3) {
		body += "---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, name: t/L/v1}\n" +
			"data: {properties: {n: {type: object}}}\n"
	}
	var sofar []made
	for i := range rapid.IntRange(1, 12).Draw(t, "documents") {
		doc, text := anyDocument(t, i, sofar)
		body, sofar = body+text, append(sofar, doc)
	}
	return body
}

// chance is true about once in so many times.
func chance(t *rapid.T, what string, in int) bool { return rapid.IntRange(0, in).Draw(t, what) == in-1 }

// anyDocument generates the nth document of a site, which depends only on earlier ones.
func anyDocument(t *rapid.T, n int, sofar []made) (doc made, text string) {
	doc = made{
		rapid.IntRange(0, 2).Draw(t, "layer"), rapid.SampledFrom([]string{"t/K/v1", "t/L/v1"}).Draw(t, "kind"),
		fmt.Sprintf("d%d", n), chance(t, "abstract", 5),
	}
	isTaken := func(name string) bool {
		return slices.ContainsFunc(sofar, func(m made) bool { return m.schema == doc.schema && m.name == name })
	}
	if len(sofar) > 0 && chance(t, "same name", 3) {
		if other := rapid.SampledFrom(sofar).Draw(t, "other"); !isTaken(other.name) {
			doc.name = other.name // of another schema
		}
	}
	layering, replacement := fmt.Sprintf("layer: l%d, abstract: %t", doc.layer, doc.isAbstract), false
	above := slices.DeleteFunc(slices.Clone(sofar), func(m made) bool {
		return m.layer >= doc.layer || m.schema != doc.schema
	})
	if len(above) > 0 && !chance(t, "root", 3) {
		parent := rapid.SampledFrom(above).Draw(t, "parent")
		layering += fmt.Sprintf(", parentSelector: {all: x, id: %d-%s}, actions: [{method: %s, path: .}]", parent.layer,
			parent.name, rapid.SampledFrom([]string{"merge", "replace"}).Draw(t, "method"))
		if replacement = chance(t, "replacement", 3); replacement {
			doc.name = parent.name
		}
	}
	storage := "cleartext"
	if chance(t, "encrypted", 8) {
		storage = "encrypted"
	}
	return doc, fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/Document/v1, name: %s, storagePolicy: %s, "+
		"replacement: %t, labels: {all: x, id: %d-%s}, layeringDefinition: {%s}, substitutions: [%s]}\n"+
		"data: {s: %d P, v: {w: %d}}\n", doc.schema, doc.name, storage, replacement, doc.layer, doc.name, layering,
		strings.Join(anySubstitutions(t, sofar), ", "), n, n)
}

// anySubstitutions generates substitutions from documents of a site, rarely one from a document that does not exist.
func anySubstitutions(t *rapid.T, sofar []made) (list []string) {
	sources := slices.DeleteFunc(slices.Clone(sofar), func(m made) bool { return m.isAbstract })
	for range rapid.IntRange(0, 3).Draw(t, "substitutions") {
		source := made{schema: "t/K/v1", name: "gone"}
		if !chance(t, "gone", 100) {
			if len(sources) == 0 {
				continue
			}
			source = rapid.SampledFrom(sources).Draw(t, "source")
		}
		list = append(list, fmt.Sprintf("{src: {schema: %s, name: %s, path: %s}", source.schema, source.name,
			rapid.SampledFrom([]string{
				".}, dest: {path: .n}", ".s}, dest: {path: .s, pattern: P}", ".s}, dest: {path: .m}",
			}).Draw(t, "copy")))
	}
	return list
}

// What is rendered apart is as in the rendering of the whole revision, errors and what viewers may not see included.
func TestView_Rendered_apart(t *testing.T) {
	t.Parallel()
	apart, whole, failed := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		body := anySite(rt)
		var fallback *revisions.Stored
		if of := rapid.IntRange(0, 2).Draw(rt, "revision of another policy"); of > 0 {
			fallback = layersOf(t, int64(of))
		}
		small, large := judged(t, body, fallback, manyDocuments-1), judged(t, body, fallback, manyDocuments)
		viewer := rapid.SampledFrom([]authz.Viewer{{Encrypted: true}, {Encrypted: true, Redacted: true}, {}}).
			Draw(rt, "viewer")
		for i := range 13 {
			limit := rapid.IntRange(-1, 1).Draw(rt, "limit")
			selection := Selection{Names: []string{fmt.Sprintf("d%d", i)}, Page: Page{Limit: limit}}
			if rapid.Bool().Draw(rt, "with schema") {
				selection.Schemas = []string{rapid.SampledFrom([]string{"t", "t/K/v1", "deckhand"}).Draw(rt, "schema")}
			}
			before := large.whole
			want, got := answerOf(t, small, viewer, selection), answerOf(t, large, viewer, selection)
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("%+v of\n%s(-whole +apart)\n%s", selection, body, diff)
			}
			switch {
			case got.Err != "":
				failed++
			case large.whole > before:
				whole += len(got.Documents)
			default:
				apart += len(got.Documents)
			}
		}
	})
	t.Logf("documents: %d rendered apart, %d with the whole revision, %d errors", apart, whole, failed)
	if apart < 50 || whole < 20 || failed < 50 {
		t.Error("there should be more of these")
	}
}

// A document of a site without a LayeringPolicy is rendered apart if a policy applied to the site when it was judged.
func TestView_Rendered_apartWithoutPolicy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		layer  string
		policy int64 // the revision of the policy
		whole  int
	}{
		"earlier": {"layer: l1", 1, 0},
		"later":   {"", 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := judged(t, fmt.Sprintf("schema: t/K/v1\nmetadata: {schema: metadata/Document/v1, name: d, layeringDefinition: {%s}}\n"+
				"data: {a: 1}\n", c.layer), layersOf(t, c.policy), manyDocuments)
			got := answerOf(t, s, authz.Viewer{Encrypted: true}, Selection{Names: []string{"d"}, Page: Page{Limit: -1}})
			if len(got.Documents) != 1 || got.Err != "" || got.Provisional != (c.whole == 1) || s.whole != c.whole {
				t.Errorf("%+v; all documents were read %d times, want %d", got, s.whole, c.whole)
			}
		})
	}
}

// layersOf returns a LayeringPolicy that a revision brought.
func layersOf(t *testing.T, revision int64) *revisions.Stored {
	t.Helper()
	doc := revisionstest.Parsed(t, threeLayers)[0]
	doc.ID, doc.Revision = 1000, revision
	return doc
}

// Of a large site, only what the selected document depends on is read, unless that is too much.
func TestView_Rendered_apartReads(t *testing.T) {
	t.Parallel()
	const documents = 20_000
	var body strings.Builder
	body.WriteString(strings.Replace(layeringPolicy, "[global, site]", "[l0, l1]", 1))
	document := func(name, layering, substitutions string) {
		fmt.Fprintf(&body, "---\nschema: t/K/v1\nmetadata: {schema: metadata/Document/v1, name: %s, labels: {id: %s}, "+
			"layeringDefinition: {%s}, substitutions: [%s]}\ndata: {a: {b: 1}}\n", name, name, layering, substitutions)
	}
	from := func(name string) string {
		return fmt.Sprintf("{src: {schema: t/K/v1, name: %s, path: .a}, dest: {path: .%s}}", name, name)
	}
	document("base", "layer: l0, abstract: true", "")
	document("source", "layer: l0", from("first"))
	document("first", "layer: l0", "")
	document("child", "layer: l1, parentSelector: {id: base}, actions: [{method: merge, path: .}]", from("source"))
	var all []string
	for i := range maxApart {
		all = append(all, from(fmt.Sprintf("w%d", i)))
	}
	document("sum", "layer: l1", strings.Join(all, ", "))
	for i := range documents {
		document(fmt.Sprintf("w%d", i), "layer: l1", "")
	}
	s := judged(t, body.String(), nil, documents)
	for name, want := range map[string]struct{ most, whole int }{"child": {20, 0}, "w7": {5, 0}, "gone": {2, 0}, "sum": {maxApart * 3, 1}} {
		s.read, s.whole = 0, 0
		found, err := serviceOf(s).For(authz.Viewer{Encrypted: true}).Rendered(t.Context(), 1,
			Selection{Names: []string{name}, Page: Page{Limit: -1}})
		if err != nil || name != "gone" && len(found.Documents) != 1 {
			t.Errorf("%s: %d documents, %v", name, len(found.Documents), err)
		}
		if s.read > want.most || s.whole != want.whole {
			t.Errorf("%s: %d documents are read, want at most %d, and all of them %d times, want %d", name, s.read, want.most,
				s.whole, want.whole)
		}
		t.Logf("%s: %d documents are read of %d", name, s.read, documents)
	}
}
