package queries

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/revisions/revisionstest"
	"purser/internal/validations"
)

// judgedSite is a site with one revision of four documents, the third failing and the second with a note, and two
// posted results.
func judgedSite(t testing.TB, policies ...revisions.PolicyVersion) *site {
	t.Helper()
	rule := validations.Rule{Schema: document.DigestOf("rule")}
	docs := revisionstest.Parsed(t, revisionstest.Widget("w1", "{}", revisionstest.Cleartext)+revisionstest.Widget("w2", "{}", revisionstest.Cleartext)+revisionstest.Widget("w3", "{x: 1}", revisionstest.Cleartext))
	finding := validations.Finding{Message: "wrong", Instance: []string{"x"}, SchemaPath: ".properties.x.type"}
	return &site{
		revisions: []revisions.Revision{{ID: 1, CreatedAt: at(), Entries: 4, Failed: true}},
		policies:  policies,
		failures: []revisions.FailedEntry{
			{Failure: revisions.Failure{Entry: 1, Document: 2, Notes: []document.Note{{Message: "odd"}}}, About: docs[1]},
			{Failure: revisions.Failure{Entry: 2, Document: 3, Rule: rule}, About: docs[2]},
		},
		findings: map[validations.Pair][]validations.Finding{validations.PairOf(docs[2].Digest, rule): {finding}},
		texts:    map[document.Digest][]byte{rule.Schema: []byte(`{"secret":"schema"}`)},
		reported: []Reported{
			{ID: 10, Name: "tests", Status: "failure", CreatedAt: at(), Size: 20},
			{ID: 11, Name: "lint", Status: "success", CreatedAt: at(), Size: 2},
		},
		errors: map[int64][]byte{10: []byte(`[{"message":"posted"}]`), 11: []byte(`[]`)},
	}
}

// lines formats entries as "id name status: first message of each error", with notes in parentheses.
func lines(entries []validations.Entry) (list []string) {
	for _, entry := range entries {
		var messages []string
		for _, text := range entry.Errors {
			message := validations.FirstMessage(slices.Concat([]byte("["), text, []byte("]")))
			messages = append(messages, strings.SplitAfter(message, "ignored")[0])
		}
		for _, note := range entry.Notes {
			messages = append(messages, "("+note.Message+")")
		}
		list = append(list, fmt.Sprintf("%d %s %s: %s", entry.ID, entry.Name, entry.Status, strings.Join(messages, ", ")))
	}
	return list
}

func TestService_Entries(t *testing.T) {
	t.Parallel()
	const schema, alias = validations.SchemaValidation, validations.SchemaValidationAlias
	own := []string{
		"0 " + schema + " success: ", "1 " + schema + " success: (odd)", "2 " + schema + " failure: wrong",
		"3 " + schema + " success: ",
	}
	both := append(slices.Clone(own), "4 "+alias+" success: ", "5 "+alias+" success: (odd)", "6 "+alias+" failure: wrong",
		"7 "+alias+" success: ")
	posted := []string{"4 tests failure: posted", "5 lint success: "}
	all := policy(schema, alias, "tests", "lint")
	for _, c := range []struct {
		name     string
		policies []revisions.PolicyVersion
		of       string // name of the validation
		page     Page
		want     []string
		more     bool
		ids      []int64 // IDs of the results whose errors are read
	}{
		{"all", nil, "", Page{Limit: -1}, append(slices.Clone(own), posted...), false, []int64{10, 11}},
		{"the first", nil, "", Page{Limit: 1}, own[:1], true, nil},
		{
			"the last of the schema validation and the first posted", nil, "",
			Page{Offset: 3, Limit: 2},
			[]string{own[3], posted[0]},
			true,
			[]int64{10},
		},
		{"to the end", nil, "", Page{Offset: 5, Limit: 1}, posted[1:], false, []int64{11}},
		{"behind the end", nil, "", Page{Offset: 6, Limit: 5}, nil, false, nil},
		{"far behind the end", nil, "", Page{Offset: 1 << 40, Limit: -1}, nil, false, nil},
		{"none", nil, "", Page{Offset: 2, Limit: 0}, nil, true, nil},
		{"one validation", nil, schema, Page{Limit: -1}, own, false, nil},
		{"one that was posted", nil, "tests", Page{Limit: -1}, []string{"0 tests failure: posted"}, false, []int64{10}},
		{"one that nobody knows", nil, "other", Page{Limit: -1}, nil, false, nil},
		{"the alias without a policy", nil, alias, Page{Limit: -1}, nil, false, nil},
		{"under both names", []revisions.PolicyVersion{all}, "", Page{Limit: 8}, both, true, nil},
		{"the second name", []revisions.PolicyVersion{all}, "", Page{Offset: 5, Limit: 2}, both[5:7], true, nil},
		{
			"the alias",
			[]revisions.PolicyVersion{all},
			alias,
			Page{Offset: 2, Limit: 1},
			[]string{"2 " + alias + " failure: wrong"},
			true, nil,
		},
		{
			"what is missing, and what is ignored",
			[]revisions.PolicyVersion{policy("missing")},
			"",
			Page{Offset: 4, Limit: -1},
			[]string{
				"4 tests ignored [failure]: posted, The result for this validation was externally registered but has been ignored",
				"5 lint ignored [success]: The result for this validation has been ignored",
				`6 missing failure: The result for this validation was never externally registered so its status ` +
					`defaulted to "failure".`,
			},
			false,
			[]int64{10, 11},
		},
		{"a missing one by name", []revisions.PolicyVersion{policy("missing")}, "missing", Page{Limit: -1}, []string{
			`0 missing failure: The result for this validation was never externally registered so its status ` +
				`defaulted to "failure".`,
		}, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site := judgedSite(t, c.policies...)
			got, err := service(site).Entries(t.Context(), 1, c.of, c.page)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, lines(got.Entries)); diff != "" || got.More != c.more {
				t.Errorf("more %v, want %v; entries (-want +got)\n%s", got.More, c.more, diff)
			}
			if diff := cmp.Diff(c.ids, site.ids); diff != "" {
				t.Errorf("results whose errors were read (-want +got)\n%s", diff)
			}
			statuses, err := service(site).Statuses(t.Context(), 1, c.of, c.page)
			if err != nil || len(statuses.Entries) != len(c.want) || statuses.More != c.more {
				t.Fatalf("statuses %+v, %v", statuses, err)
			}
			for i, entry := range statuses.Entries {
				if entry.Status != got.Entries[i].Status || entry.ID != got.Entries[i].ID {
					t.Errorf("status %+v, want that of %+v", entry, got.Entries[i])
				}
			}
		})
	}
}

// A window of the schema validation reads only the failures inside it.
func TestService_Statuses_reads(t *testing.T) {
	t.Parallel()
	site := judgedSite(t)
	if _, err := service(site).Statuses(t.Context(), 1, "", Page{Offset: 1, Limit: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := service(site).Statuses(t.Context(), 1, "", Page{Offset: 4, Limit: 2}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]EntryQuery{{From: 1, To: 3}}, site.queries); diff != "" || site.ids != nil {
		t.Errorf("errors of %v; failures (-want +got)\n%s", site.ids, diff)
	}
	site.revisions[0].Failed, site.queries = false, nil
	if _, err := service(site).Statuses(t.Context(), 1, "", Page{Limit: -1}); err != nil || site.queries != nil {
		t.Errorf("%v; of a success %v were read", err, site.queries)
	}
}

// A page ends before the errors of its results exceed 4 MiB, unless its first result alone does.
func TestEntryList_affordable(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	list := entryList{
		revision: revisions.Revision{Entries: 2}, internal: []string{"schema"},
		reported: []Reported{{Size: 1 * mib}, {Size: 3 * mib}, {Size: 1}, {Size: 9 * mib}, {Size: 9 * mib}, {Size: 1}},
		missing:  []string{"missing"},
	}
	for _, c := range []struct{ from, to, want int }{
		{0, 2, 2}, {0, 9, 4}, {0, 3, 3}, {2, 9, 4}, {3, 9, 5}, {4, 9, 5}, {5, 9, 6}, {6, 9, 7}, {7, 9, 9}, {8, 9, 9}, {9, 9, 9},
	} {
		if got := list.affordable(c.from, c.to); got != c.want {
			t.Errorf("from %d to %d: %d, want %d", c.from, c.to, got, c.want)
		}
	}
}

func TestService_Entry(t *testing.T) {
	t.Parallel()
	s := service(judgedSite(t))
	got, err := s.Entry(t.Context(), 1, validations.SchemaValidation, 2)
	if err != nil {
		t.Fatal(err)
	}
	var wrong validations.Error
	if err := json.Unmarshal(got.Errors[0], &wrong); err != nil {
		t.Fatal(err)
	}
	if got.Status != "failure" || string(wrong.ValidationSchema) != `{"secret":"schema"}` || wrong.Name != "w3" {
		t.Errorf("entry %+v, %s", got, got.Errors)
	}
	for _, position := range []int{-1, 4, 1 << 40} {
		if _, err := s.Entry(t.Context(), 1, validations.SchemaValidation, position); fault.KindOf(err) != fault.NotFound {
			t.Errorf("entry %d: %v", position, err)
		}
	}
	if _, err := s.Entry(t.Context(), 2, validations.SchemaValidation, 0); !strings.Contains(fmt.Sprint(err), "revision=2") {
		t.Errorf("entry of a revision that does not exist: %v", err)
	}
}

// A revision that has been replaced since it was found has no results.
func TestService_Entries_ofAnother(t *testing.T) {
	t.Parallel()
	site := judgedSite(t)
	s := service(site)
	site.stamp = 5
	_, err := s.Entries(t.Context(), 1, "", Page{Limit: -1})
	_, errStatus := s.Status(t.Context(), "1")
	for _, err := range []error{err, errStatus} {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("%v", err)
		}
	}
}

// The status of a validation is the one that the verdict is based on; in Deckhand it is that of the worst entry.
func TestService_Validations(t *testing.T) {
	t.Parallel()
	gate := policy("lint", "missing", "tests", validations.SchemaValidationAlias)
	gate.Requirements[2] = validations.ParsePolicy(gate.Identity, []byte(`{"validations":[{"name":"tests","expiresAfter":"PT1H"}]}`), false).
		Requirements[0]
	for _, c := range []struct {
		name     string
		policies []revisions.PolicyVersion
		compat   bool
		want     []validations.Summary
	}{
		{"without a policy", nil, false, []validations.Summary{
			{Name: validations.SchemaValidation, Status: "failure"},
			{Name: "lint", Status: "failure"},
			{Name: "mended", Status: "success"},
			{Name: "tests", Status: "success"},
		}},
		{"with one", []revisions.PolicyVersion{gate}, false, []validations.Summary{
			{Name: validations.SchemaValidation, Status: "ignored [failure]"},
			{Name: "lint", Status: "failure"},
			{Name: "mended", Status: "ignored [success]"},
			{Name: "missing", Status: "failure"},
			{Name: "tests", Status: "failure"}, // its success has expired
			{Name: validations.SchemaValidationAlias, Status: "failure"},
		}},
		{"as in Deckhand", nil, true, []validations.Summary{
			{Name: validations.SchemaValidation, Status: "failure"},
			{Name: "lint", Status: "failure"},
			{Name: "mended", Status: "failure"},
			{Name: "tests", Status: "success"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site := judgedSite(t, c.policies...)
			site.worst = map[string]string{"lint": "failure", "mended": "failure", "tests": "success"}
			site.outcomes = map[int64][]validations.Outcome{1: {
				{Name: "lint", Status: validations.Failure, At: at()},
				{Name: "mended", At: at()},
				{Name: "tests", At: at().Add(-2 * time.Hour)},
			}}
			s := service(site)
			s.renderer.Compat = c.compat
			got, _, err := s.Validations(t.Context(), "1", false)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(c.want, func(a, b validations.Summary) int { return strings.Compare(a.Name, b.Name) })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("validations (-want +got)\n%s", diff)
			}
		})
	}
}
