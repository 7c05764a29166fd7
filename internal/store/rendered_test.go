package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"purser/internal/authz"
	"purser/internal/cache"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

const layers = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: lp}\n" +
	"data: {layerOrder: [site]}\n"

// Concurrent requests for one revision share its rendering; a request that ends meanwhile does not end it for others.
func TestService_Rendered_shared(t *testing.T) {
	t.Parallel()
	service := open(t, storetest.URL(t))
	const documents, readers, rounds = 60, 12, 6
	for round := range rounds {
		var body strings.Builder
		body.WriteString(layers)
		for i := range documents {
			body.WriteString(widget(fmt.Sprintf("w%d", i), round))
		}
		revision := put(t, service, "a", body.String()).Revision
		var group sync.WaitGroup
		for reader := range readers {
			group.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if reader%3 == 0 {
					go cancel()
				}
				selected, err := service.View.Rendered(ctx, revision, all())
				switch {
				case reader%3 == 0 && errors.Is(err, context.Canceled):
				case err != nil:
					t.Errorf("reader %d of revision %d: %v", reader, revision, err)
				case len(selected.Documents) != documents+1:
					t.Errorf("reader %d of revision %d: %d documents", reader, revision, len(selected.Documents))
				}
			})
		}
		group.Wait()
	}
}

// A rendering does not depend on the selection: all selections see the same documents, and none may change them.
func TestService_Rendered_selection(t *testing.T) {
	t.Parallel()
	service := open(t, storetest.URL(t))
	revision := put(t, service, "a", layers+widget("p", 1)+widget("q", 2)+widget("r", 3)).Revision
	names := func(selection queries.Selection) string {
		selected, err := service.View.Rendered(t.Context(), revision, selection)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, doc := range selected.Documents {
			names = append(names, doc.Name)
		}
		return strings.Join(names, " ")
	}
	unlimited := queries.Page{Limit: -1}
	for _, c := range []struct {
		selection queries.Selection
		want      string
	}{
		{queries.Selection{Page: unlimited}, "lp p q r"},
		{queries.Selection{Sort: []queries.SortKey{queries.ByName}, Backwards: true, Page: unlimited}, "r q p lp"},
		{queries.Selection{Schemas: []string{"acme"}, Page: queries.Page{Offset: 1, Limit: 1}}, "q"},
		{queries.Selection{Schemas: []string{"acm", "acme/Widget/v1/"}, Page: unlimited}, ""},
		{queries.Selection{Page: unlimited}, "lp p q r"},
	} {
		if got := names(c.selection); got != c.want {
			t.Errorf("%+v: %q, want %q", c.selection, got, c.want)
		}
	}
}

// partial is a store that does not return all documents of a revision.
type partial struct {
	*store.Store

	t *testing.T
}

// AllDocuments implements queries.Store.
func (p partial) AllDocuments(context.Context, int64, revisions.Stamp) (queries.Selected, error) {
	p.t.Error("all documents are read")
	return queries.Selected{}, errors.New("not all documents")
}

// A document of a large revision, the newest or not, is rendered as with all others, from what it depends on.
func TestService_Rendered_apart(t *testing.T) {
	t.Parallel()
	const documents = 5_000
	url := storetest.URL(t)
	service, kept := open(t, url), openStore(t, url, defaults())
	apart := queries.NewService(queries.Config{
		Store: partial{kept, t}, Renderer: changes.Renderer{Engine: validations.NewEngine(validations.Options{})},
		Rendered: cache.New[changes.RenderKey, changes.Rendering](0),
	}).For(authz.Viewer{Encrypted: true})
	body := []string{strings.Replace(layers, "[site]", "[global, site]", 1), control("deckhand/ValidationPolicy/v1", "vp",
		"{validations: [{name: deckhand-rendering-validation}]}")}
	for i := range documents {
		body = append(body, widget(fmt.Sprintf("w%d", i), i))
	}
	put(t, service, "many", strings.Join(body, ""))
	base := strings.NewReplacer("{layer: site}", "{layer: global, abstract: true}", "storagePolicy:",
		"labels: {kind: base, of: w}\n  storagePolicy:")
	child := strings.NewReplacer("{layer: site}", "{layer: site, parentSelector: {kind: base}, actions: [{method: merge, "+
		"path: .}]}\n  substitutions: [{src: {schema: acme/Widget/v1, name: w7, path: .x}, dest: {path: .y}}]")
	for i := range 2 {
		unlike := strings.Replace(widget("child", i), "x:", "z:", 1)
		put(t, service, "few", base.Replace(widget("base", i))+child.Replace(unlike))
	}
	for revision, want := range map[int64]string{2: `{"x":0,"z":0,"y":7}`, 3: `{"x":1,"z":1,"y":7}`} {
		whole, err := service.View.Rendered(t.Context(), revision, all())
		if err != nil {
			t.Fatal(err)
		}
		selection := queries.Selection{Names: []string{"child"}, Page: queries.Page{Limit: -1}}
		got, err := apart.Rendered(t.Context(), revision, selection)
		if err != nil {
			t.Fatal(err)
		}
		same(t, slices.DeleteFunc(slices.Clone(whole.Documents), func(doc *revisions.Stored) bool {
			return doc.Name != "child"
		}), got.Documents)
		if data := string(got.Documents[0].Data); data != want || got.Stamp != whole.Stamp {
			t.Errorf("revision %d: %s, want %s", revision, data, want)
		}
	}
}

// A prune beside changes, tags and readers loses nothing that was acknowledged and stays.
func TestService_Prune_concurrent(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	services := []site{open(t, url), open(t, url)}
	put(t, services[0], "keep", widget("kept", 1))
	if _, err := services[0].Tag(t.Context(), 1, revisions.Options{}, "good", nil); err != nil {
		t.Fatal(err)
	}
	const writers, rounds = 4, 12
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for round := range rounds {
				body := []byte(widget(fmt.Sprintf("w%d", w), round))
				written, err := services[w%2].Put(t.Context(), fmt.Sprintf("b%d", w), body, document.YAML, revisions.Options{})
				if err != nil || !written.Changed {
					t.Errorf("writer %d, round %d: %+v %v", w, round, written, err)
				}
			}
		})
	}
	group.Go(func() {
		for range rounds {
			if _, err := services[0].Prune(t.Context(), 2, revisions.Options{}); err != nil {
				t.Errorf("prune: %v", err)
			}
		}
	})
	group.Wait()
	if n := len(shown(t, services[1], writers*rounds+1)); n != writers+1 {
		t.Errorf("the last revision has %d documents, want %d", n, writers+1)
	}
	if lines := shown(t, services[1], 1); len(lines) != 1 || !strings.Contains(lines[0], `kept={"x":1}`) {
		t.Errorf("the tagged revision: %v", lines)
	}
}
