package queries

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/revisions/revisionstest"
	"purser/internal/validations"
)

func TestPage(t *testing.T) {
	t.Parallel()
	all := revisionstest.Parsed(t, revisionstest.Widget("p", "{}", revisionstest.Cleartext)+revisionstest.Widget("q", "{}", revisionstest.Cleartext)+revisionstest.Widget("r", "{}", revisionstest.Cleartext))
	for _, c := range []struct {
		page Page
		want string
		more bool
	}{
		{Page{Limit: -1}, "[p q r]", false},
		{Page{Limit: 3}, "[p q r]", false},
		{Page{Limit: 2}, "[p q]", true},
		{Page{Limit: 0}, "[]", true},
		{Page{Offset: 1, Limit: 1}, "[q]", true},
		{Page{Offset: 1, Limit: 2}, "[q r]", false},
		{Page{Offset: 3, Limit: 0}, "[]", false},
		{Page{Offset: 9, Limit: 9}, "[]", false},
		{Page{Offset: 9, Limit: -1}, "[]", false},
	} {
		got := c.page.Of(all)
		if fmt.Sprint(names(got.Documents)) != c.want || got.More != c.more {
			t.Errorf("%+v: %v, more %v; want %s, %v", c.page, names(got.Documents), got.More, c.want, c.more)
		}
	}
}

// One more document than wanted is read to find out whether there are more.
func TestService_Documents(t *testing.T) {
	t.Parallel()
	site := &site{documents: map[int64][]*revisions.Stored{
		1: revisionstest.Parsed(t, revisionstest.Widget("p", "{}", revisionstest.Cleartext)+revisionstest.Widget("q", "{}", revisionstest.Cleartext)),
	}}
	s := service(site)
	for _, c := range []struct {
		limit, asked int
		want         string
		more         bool
	}{{-1, -1, "[p q]", false}, {2, 3, "[p q]", false}, {1, 2, "[p]", true}, {0, 1, "[]", true}} {
		got, err := s.Documents(t.Context(), 1, Selection{Page: Page{Limit: c.limit}})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(names(got.Documents)) != c.want || got.More != c.more {
			t.Errorf("limit %d: %v, more %v", c.limit, names(got.Documents), got.More)
		}
		if asked := site.selections[len(site.selections)-1].Limit; asked != c.asked {
			t.Errorf("limit %d: the store was asked for %d", c.limit, asked)
		}
	}
	_, err := s.Documents(t.Context(), 2, Selection{})
	if fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "The requested revision=2 was not found") {
		t.Errorf("of a revision that does not exist: %v", err)
	}
}

// Each passes all documents of a selection in order, however many there are.
func TestService_Each(t *testing.T) {
	t.Parallel()
	const near, count = 32, 69
	var body strings.Builder
	for i := range count {
		body.WriteString(revisionstest.Widget(fmt.Sprintf("w%03d", i), "{}", revisionstest.Cleartext))
	}
	site := &site{documents: map[int64][]*revisions.Stored{1: revisionstest.Parsed(t, body.String())}, near: near}
	s := service(site)
	for _, c := range []struct {
		limit, want int
		more        bool
	}{
		{-1, count, false},
		{near - 1, near - 1, true},
		{near, near, true},
		{near + 1, near + 1, true},
		{count - 1, count - 1, true},
		{count, count, false},
		{count + 1, count, false},
	} {
		selection := Selection{Page: Page{Limit: c.limit}}
		found, err := s.Documents(t.Context(), 1, selection)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		err = s.Each(t.Context(), found, func(documents []*revisions.Stored) error {
			got = append(got, names(documents)...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != c.want || found.More != c.more || !slices.IsSorted(got) {
			t.Errorf("limit %d: %d documents, more %v; want %d, %v", c.limit, len(got), found.More, c.want, c.more)
		}
	}
}

// Reading a revision that is deleted meanwhile fails with Gone instead of returning a part.
func TestService_Each_gone(t *testing.T) {
	t.Parallel()
	s := service(&site{})
	selected := Selected{Rest: []Outline{{ID: 1, Size: 2}}}
	err := s.Each(t.Context(), selected, func([]*revisions.Stored) error { return nil })
	if fault.KindOf(err) != fault.Gone {
		t.Errorf("got %v, want Gone", err)
	}
}

// Rendered documents come in the order of rendering, also those of equal rank.
func TestService_Rendered_select(t *testing.T) {
	t.Parallel()
	body := layeringPolicy + revisionstest.Widget("p", "{}", revisionstest.Cleartext) + revisionstest.Widget("q", "{}", revisionstest.Cleartext) + revisionstest.Widget("r", "{}", revisionstest.Cleartext)
	site := &site{
		revisions: []revisions.Revision{{ID: 1}}, documents: map[int64][]*revisions.Stored{1: revisionstest.Parsed(t, body)},
		ranks: map[int64]int{2: 2, 3: 1, 4: 2}, stamp: 5,
	}
	s := service(site)
	for _, c := range []struct {
		name      string
		selection Selection
		want      string
		selected  int // number of calls of Ranks
	}{
		{"all", Selection{Page: Page{Limit: -1}}, "[lp p q r]", 0},
		{"a page of all", Selection{Page: Page{Offset: 1, Limit: 2}}, "[p q]", 0},
		{"selected", Selection{Schemas: []string{"acme"}, Page: Page{Limit: -1}}, "[q p r]", 1},
		{"a page of those selected", Selection{Schemas: []string{"acme"}, Page: Page{Offset: 1, Limit: 1}}, "[p]", 1},
		{"without policies", Selection{NoPolicy: true, Page: Page{Limit: 1}}, "[q]", 1},
	} {
		site.selections = nil
		got, err := s.Rendered(t.Context(), 1, c.selection)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		for _, selection := range site.selections {
			if selection.restricts() {
				asked++
			}
		}
		if fmt.Sprint(names(got.Documents)) != c.want || asked != c.selected || got.Stamp != 5 {
			t.Errorf("%s: %v by %d selections, stamp %d; want %s", c.name, names(got.Documents), asked, got.Stamp, c.want)
		}
	}
}

func TestService_Rendered_faults(t *testing.T) {
	t.Parallel()
	schema := "---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, name: acme/Widget/v1}\n" +
		"data: {properties: {x: {type: string}}}\n"
	s := service(&site{
		revisions: []revisions.Revision{{ID: 1}, {ID: 2}},
		documents: map[int64][]*revisions.Stored{
			1: revisionstest.Parsed(t, layeringPolicy+schema+revisionstest.Widget("w", "{x: 1}", revisionstest.Cleartext)),
			2: revisionstest.Parsed(t, revisionstest.Widget("w", "{x: 1}", revisionstest.Cleartext)),
		},
	})
	all := Selection{Page: Page{Limit: -1}}
	for range 2 { // the second time from the cache
		if _, err := s.Rendered(t.Context(), 1, all); fault.KindOf(err) != fault.Invalid {
			t.Errorf("documents that do not match their schema: %v", err)
		}
	}
	if got, err := s.renderedSides(t.Context(), 0, 1); err != nil || len(got[1].documents) != 3 {
		t.Errorf("what a deep difference reads of them: %v, %v", names(got[1].documents), err)
	}
	if _, err := s.Rendered(t.Context(), 2, all); fault.KindOf(err) != fault.Conflict {
		t.Errorf("without a LayeringPolicy: %v", err)
	}
	if _, err := s.Rendered(t.Context(), 3, all); fault.KindOf(err) != fault.NotFound {
		t.Errorf("of a revision that does not exist: %v", err)
	}
}

func TestSelection_restricts(t *testing.T) {
	t.Parallel()
	for _, restricting := range []Selection{
		{Schemas: []string{}},
		{Names: []string{}},
		{Layers: []string{}},
		{Buckets: []string{}},
		{Labels: []Label{}},
		{NoPolicy: true},
		{Sort: []SortKey{ByName}},
	} {
		if !restricting.restricts() {
			t.Errorf("%+v does not restrict", restricting)
		}
	}
	all := Selection{Cleartext: true, Backwards: true, Page: Page{1, 2}}
	if all.restricts() {
		t.Errorf("%+v restricts", all)
	}
}

// List reads one revision more than it returns, and skips revisions deleted meanwhile.
func TestService_List(t *testing.T) {
	t.Parallel()
	s := service(&site{revisions: []revisions.Revision{{ID: 1}, {ID: 2}, {ID: 3, Failed: true}}})
	for _, c := range []struct {
		limit, want int
		more        bool
	}{{-1, 3, false}, {4, 3, false}, {3, 3, true}, {2, 2, true}, {0, 0, true}} {
		got, err := s.List(t.Context(), Query{Page: Page{Limit: c.limit}})
		if err != nil || len(got.Revisions) != c.want || got.More != c.more {
			t.Errorf("limit %d: %d revisions, more %v, %v", c.limit, len(got.Revisions), got.More, err)
		}
	}
	got, err := s.List(t.Context(), Query{Page: Page{Limit: -1}})
	if err != nil || got.Revisions[0].Verdict.Status != validations.Success ||
		got.Revisions[2].Verdict.Status != validations.Failure {
		t.Errorf("verdicts %+v, %v", got.Revisions, err)
	}
}

// withoutResults compares judgements without the results that they rest on.
var withoutResults = cmpopts.IgnoreFields(validations.Judged{}, "Result")

// The status has the first message of a failure, under each name of the schema validation only.
func TestService_Status(t *testing.T) {
	t.Parallel()
	site := judgedSite(t)
	got, err := service(site).Status(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	want := []validations.Judged{{Name: validations.SchemaValidation, Status: validations.Failure, Message: "wrong"}}
	if diff := cmp.Diff(want, got.Verdict.Reported, withoutResults); diff != "" {
		t.Errorf("reported (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]EntryQuery{{Limit: 1, FailuresOnly: true}}, site.queries); diff != "" {
		t.Errorf("what was read (-want +got)\n%s", diff)
	}
	site.policies = []revisions.PolicyVersion{policy(validations.SchemaValidationAlias, "tests")}
	site.outcomes = map[int64][]validations.Outcome{1: {{Name: "tests", Status: validations.Failure, Message: "own"}}}
	if got, err = service(site).Status(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	want = []validations.Judged{
		{Name: validations.SchemaValidationAlias, Status: validations.Failure, Message: "wrong"},
		{Name: "tests", Status: validations.Failure, Message: "own"},
	}
	if diff := cmp.Diff(want, got.Verdict.Policies[0].Validations, withoutResults); diff != "" {
		t.Errorf("required (-want +got)\n%s", diff)
	}
	site.revisions[0].Failed, site.queries = false, nil
	if _, err := service(site).Status(t.Context(), "1"); err != nil || site.queries != nil {
		t.Errorf("%v; of a success %v were read", err, site.queries)
	}
}

// Status accepts the names of a revision, with the errors of Resolve.
func TestService_Status_names(t *testing.T) {
	t.Parallel()
	s := service(&site{revisions: []revisions.Revision{{ID: 1}, {ID: 2}, {ID: 3}}, tags: map[string]int64{"good": 2, "": 1}})
	for id, want := range map[string]int64{
		"latest": 3, "1": 1, "3": 3, "tag:good": 2, "tag:": 1, "tag:bad": 0, "4": 0, "0": 0, "01": 0, "x": 0,
	} {
		got, err := s.Status(t.Context(), id)
		if got.ID != want || (want == 0) != (err != nil && fault.KindOf(err) == fault.NotFound) {
			t.Errorf("%q: revision %d, %v; want %d", id, got.ID, err, want)
		}
	}
	_, err := service(&site{}).Status(t.Context(), "latest")
	if err == nil || !strings.Contains(err.Error(), "The requested revision=latest was not found") {
		t.Errorf("latest of nothing: %v", err)
	}
}
