package queries

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/revisions/revisionstest"
)

func TestView_Documents_search(t *testing.T) {
	t.Parallel()
	const labelled = ", labels: {rack: R2, role: compute}"
	documents := revisionstest.Parsed(t, revisionstest.Widget("cmp-1", `{address: 10.0.0.21, rack: 2, "quo\"te": "a\"b\\c\nd\tyes"}`, revisionstest.Cleartext+labelled)+
		revisionstest.Widget("cmp-2", "{list: [{deep: GRÜN}, true, 1.5], rack: null}", revisionstest.Cleartext)+
		revisionstest.Widget("pw", "{rack: hunter2}", "storagePolicy: encrypted, labels: {rack: r9}, layeringDefinition: {layer: site}")+
		revisionstest.Widget("Ctl", "{}", revisionstest.Cleartext))
	same, tainted := *documents[1].Document, *documents[3]
	same.Name = "cmp-3"
	tainted.Document, tainted.Tainted = &same, true
	documents = append(documents, &tainted)
	for text, want := range map[string]string{
		"CMP-":         "cmp-1 cmp-2 cmp-3", // the third one only by its name
		"ctl":          "Ctl",
		"rack=r2":      "cmp-1",
		"role":         "cmp-1", // a label's key
		"compute":      "cmp-1",
		"r9":           "pw", // a label of an encrypted document
		"0.0.2":        "cmp-1",
		"grün":         "cmp-2",
		"GRÜN":         "cmp-2",
		"1.5":          "cmp-2",
		"TRUE":         "cmp-2",
		"deep":         "", // a key
		"hunter":       "", // a secret
		"address":      "",
		`"b`:           "cmp-1",
		"c\nd":         "cmp-1",
		"d\tY":         "cmp-1",
		"tyes":         "", // an escape and the letters after it
		`\n`:           "", // not the character, but its escape
		`b\c`:          "cmp-1",
		`":`:           "",
		"[":            "",
		"layer":        "", // elsewhere in the metadata
		"acme":         "",
		"10.0.0.21\",": "",
		"no such text": "",
	} {
		s := service(&site{documents: map[int64][]*revisions.Stored{1: documents}})
		found, err := s.Documents(t.Context(), 1, Selection{Search: text, Page: Page{Limit: -1}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(names(found.Documents), " "); got != want {
			t.Errorf("%q is in %s, want %s", text, got, want)
		}
	}
}

// Hits are divided into pages, regardless of how many documents are read at a time.
func TestView_Documents_searchPages(t *testing.T) {
	t.Parallel()
	const count = 20
	var body strings.Builder
	for i := range count {
		body.WriteString(revisionstest.Widget(fmt.Sprintf("w%02d-%d", i, i%2), "{}", revisionstest.Cleartext))
	}
	for _, near := range []int{0, 1, 7} {
		site := &site{documents: map[int64][]*revisions.Stored{1: revisionstest.Parsed(t, body.String())}, near: near}
		s := service(site)
		for _, c := range []struct {
			page Page
			want string
			more bool
		}{
			{Page{Limit: -1, Offset: 7}, "w15-1 w17-1 w19-1", false},
			{Page{Limit: 2}, "w01-1 w03-1", true},
			{Page{Limit: 2, Offset: 3}, "w07-1 w09-1", true},
			{Page{Limit: 2, Offset: 8}, "w17-1 w19-1", false},
			{Page{Limit: 0}, "", true},
			{Page{Limit: 2, Offset: 10}, "", false},
		} {
			found, err := s.Documents(t.Context(), 1, Selection{Search: "-1", Schemas: []string{"acme"}, Page: c.page})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(names(found.Documents), " ")
			if got != c.want || found.More != c.more {
				t.Errorf("%+v: %s, more %v; want %s, %v", c.page, got, found.More, c.want, c.more)
			}
			if asked := site.selections[len(site.selections)-1]; asked.Limit != -1 || asked.Offset != 0 || asked.Schemas == nil {
				t.Errorf("the store was asked for %+v", asked)
			}
		}
	}
}

// A search looks at a bounded number of documents, says where it has stopped, and goes on from there.
func TestView_Documents_searchOfMany(t *testing.T) {
	t.Parallel()
	documents := revisionstest.Parsed(t, revisionstest.Widget("first", "{}", revisionstest.Cleartext)+
		revisionstest.Widget("other", "{}", revisionstest.Cleartext)+revisionstest.Widget("last", "{}", revisionstest.Cleartext))
	first, other, last := documents[0], documents[1], documents[2]
	many := slices.Concat([]*revisions.Stored{first}, slices.Repeat([]*revisions.Stored{other}, maxSearched),
		[]*revisions.Stored{last})
	s := service(&site{documents: map[int64][]*revisions.Stored{1: many, 2: many[:maxSearched-1]}})
	for _, c := range []struct {
		revision   int64
		searched   int
		limit      int
		want       string
		more       bool
		searchedTo int
	}{
		{1, 0, -1, "first", false, maxSearched},
		{1, 0, 0, "", true, 0}, // the page is full
		{1, 0, 1, "first", false, maxSearched},
		{1, maxSearched, -1, "last", false, 0},
		{2, 0, -1, "first", false, 0},
	} {
		found, err := s.Documents(t.Context(), c.revision, Selection{
			Search: "st", Searched: c.searched, Page: Page{Limit: c.limit},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(names(found.Documents), " ")
		if got != c.want || found.More != c.more || found.Searched != c.searchedTo {
			t.Errorf("%+v: %s, more %v, searched %d", c, got, found.More, found.Searched)
		}
	}
}

// A search counts its work, and stops when the budget is exhausted.
func TestView_Documents_searchBudget(t *testing.T) {
	t.Parallel()
	documents := revisionstest.Parsed(t, revisionstest.Widget("w", "{}", revisionstest.Cleartext))
	data := *documents[0].Document
	data.Data = []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	same := *documents[0]
	same.Document = &data
	s := service(&site{documents: map[int64][]*revisions.Stored{1: slices.Repeat([]*revisions.Stored{&same}, 600)}})
	ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
	defer end()
	if err := budget.NewMeter(ctx).Spend(19 * budget.Second / 10); err != nil { // which leaves little of the 2 s
		t.Fatal(err)
	}
	_, err := s.Documents(ctx, 1, Selection{Search: "y", Page: Page{Limit: -1}})
	if fault.KindOf(err) != fault.TooLarge || !strings.Contains(err.Error(), `search for "y": it takes more than 2.0 s`) {
		t.Errorf("got %v", err)
	}
	if steps, _ := budget.From(ctx).Spent(); steps > 21*budget.Second/10 {
		t.Errorf("it has spent %d steps", steps)
	}
	if _, err := s.Documents(ctx, 1, Selection{Page: Page{Limit: -1}}); err != nil {
		t.Errorf("without a search: %v", err)
	}
}
