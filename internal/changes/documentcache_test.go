package changes

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"purser/internal/revisions"
	"purser/internal/validations"
)

// A later revision reuses rendered documents that are equal, also those that depend on a secret, and renders those that
// depend on a change again. A document that rendering leaves unchanged is returned itself.
func TestRenderer_Kept(t *testing.T) {
	t.Parallel()
	const taking = "substitutions: [{src: {schema: acme/Widget/v1, name: NAME, path: .x}, dest: {path: .y}}]"
	site := layeringPolicy("policy") + widget("alone", "{x: 1}") + widget("source", "{x: 2}") +
		widget("taker", "{x: 3}", strings.ReplaceAll(taking, "NAME", "source")) +
		secret("secret", "{x: 4}") + widget("confidant", "{x: 5}", strings.ReplaceAll(taking, "NAME", "secret"))
	s, _ := service()
	s.Vault = fakeVault{}
	stored := func(body string) (documents []*revisions.Stored) {
		for i, item := range payload(t, s, "b", body, "b").Items {
			id := int64(i + 1)
			doc := revisions.Stored{Document: item.Document, ID: id, Place: id, Bucket: "b", Revision: 1, Shared: true}
			documents = append(documents, &doc)
		}
		return documents
	}
	r := Renderer{
		Engine: validations.NewEngine(validations.Options{}), Vault: s.Vault,
		Documents: NewDocumentCache(1 << 20),
	}
	render := func(documents []*revisions.Stored) map[string]*revisions.Stored {
		rendered, err := r.Render(t.Context(), 1, documents, nil)
		plain, plainErr := Renderer{Engine: r.Engine, Vault: s.Vault}.Render(t.Context(), 1, documents, nil)
		if err != nil || plainErr != nil {
			t.Fatal(err, plainErr)
		}
		if diff := cmp.Diff(plain, rendered, exported(), cmpopts.IgnoreFields(revisions.Stored{}, "Computed")); diff != "" {
			t.Errorf("without the cache, with it:\n%s", diff)
		}
		byName := map[string]*revisions.Stored{}
		for _, doc := range rendered.Documents {
			byName[doc.Name] = doc
		}
		return byName
	}
	first := render(stored(site))
	moved := stored(site)
	moved[1].ID, moved[1].Revision = 9, 2 // deleted and created again
	for name, c := range map[string]struct {
		documents []*revisions.Stored
		anew      string
	}{
		"nothing changed":     {stored(site), ""},
		"another source":      {stored(strings.Replace(site, "{x: 2}", "{x: 7}", 1)), "taker"},
		"another order":       {stored(strings.Replace(site, "{x: 3}", "{y: 0, x: 3}", 1)), "taker"},
		"the same as another": {moved, ""},
		"another secret":      {stored(strings.Replace(site, "{x: 4}", "{x: 8}", 1)), "secret confidant"},
	} {
		anew := strings.Fields(c.anew)
		for of, doc := range render(c.documents) {
			if slices.Contains([]string{"policy", "alone", "source"}, of) {
				if !slices.Contains(c.documents, doc) {
					t.Errorf("%s: %s is not the document itself", name, of)
				}
				continue
			}
			if made := &first[of].Data[0] != &doc.Data[0]; made != slices.Contains(anew, of) {
				t.Errorf("%s: %s is made anew: %v", name, of, made)
			}
		}
	}
}
