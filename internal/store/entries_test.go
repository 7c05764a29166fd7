package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/storetest"
)

// Entries are selected by the documents that they are about, in the newest revision and in others, of its payload and
// outside of it, and keep their positions. An entry of each has a note about a stray key.
func TestStore_FailedEntries_document(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, site := openStore(t, url, defaults()), open(t, url)
	put(t, site, "schemas", widgetSchema+strings.ReplaceAll(widgetSchema, "acme/Widget/v1", "acme/Gadget/v1"))
	stray := strings.NewReplacer("data: ", "datta: {}\ndata: ")
	w, in := stray.Replace(widget("w", 1)), strings.NewReplacer("layer: site", "layer: global", "name: w", "name: x/w")
	gadget := strings.NewReplacer("acme/Widget/v1", "acme/Gadget/v1")
	put(t, site, "a", w+stray.Replace(widget("v", 1))+in.Replace(w)+gadget.Replace(w))
	put(t, site, "b", widget("other", 1))
	put(t, site, "a", widget("v", 1))
	for text, want := range map[string][]string{
		"":                          {"0w 1v 2x/w 3w", "0other 1w 2v 3x/w 4w", "0v 1other"},
		"w":                         {"0w 3w", "1w 4w", ""},
		"acme/Widget/v1/w":          {"0w", "1w", ""},
		"acme/Widget/v1/site/w":     {"0w", "1w", ""},
		"acme/Gadget/v1/w":          {"3w", "4w", ""},
		"x/w":                       {"2x/w", "3x/w", ""},
		"acme/Widget/v1/global/x/w": {"2x/w", "3x/w", ""},
		"acme/Widget/v1/other":      {"", "0other", "1other"},
		"Widget/v1/w":               {"", "", ""},
		"w/":                        {"", "", ""},
		"%":                         {"", "", ""},
	} {
		for i, lines := range want {
			around, err := s.Around(t.Context(), int64(i+2))
			if err != nil {
				t.Fatal(err)
			}
			of := revisions.Revision{ID: int64(i + 2), Stamp: around.Stamp}
			rows, err := s.FailedEntries(t.Context(), of, queries.EntryQuery{Document: text})
			var got, noted, strays []string
			for _, row := range rows {
				got = append(got, fmt.Sprint(row.Entry, row.About.Name))
				if len(row.Notes) > 0 {
					noted = append(noted, fmt.Sprint(row.Entry, row.About.Name))
				}
			}
			if diff := cmp.Diff(lines, strings.Join(got, " ")); err != nil || diff != "" {
				t.Errorf("%q in revision %d: %v (-want +got)\n%s", text, of.ID, err, diff)
			}
			rows, err = s.Strays(t.Context(), of, text, 9, true)
			for _, row := range rows {
				strays = append(strays, fmt.Sprint(row.Entry, row.About.Name))
			}
			if diff := cmp.Diff(noted, strays); err != nil || diff != "" || i == 0 && text == "w" && len(noted) != 2 {
				t.Errorf("strays of %q in revision %d: %v (-entries +strays)\n%s", text, of.ID, err, diff)
			}
		}
	}
}
