package queries

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/revisions/revisionstest"
	"purser/internal/validations"
)

// Only the first 8 MiB of the errors of many results are read, in one query, and the answer reports that there are more.
func TestView_Findings_bounded(t *testing.T) {
	t.Parallel()
	const results, size = 20, 1 << 20
	site := &site{
		revisions: []revisions.Revision{{ID: 1}}, outcomes: map[int64][]validations.Outcome{}, errors: map[int64][]byte{},
	}
	for i := range int64(results) {
		name := fmt.Sprintf("validation-%02d", i)
		site.outcomes[1] = append(site.outcomes[1], validations.Outcome{Name: name, Status: validations.Failure})
		site.reported = append(site.reported, Reported{ID: i + 1, Name: name, Status: "failure", Size: size})
		site.errors[i+1] = []byte(`[{"message": "wrong"}]`)
	}
	found, err := service(site).Findings(t.Context(), "1", FindingsQuery{Limit: 2 * results})
	if err != nil {
		t.Fatal(err)
	}
	if len(site.ids) != 8 || len(found.Findings) != 8 || !found.More {
		t.Errorf("%d results were read, %d findings, more %v; want 8, 8, true", len(site.ids), len(found.Findings), found.More)
	}
	site.reported, site.ids = site.reported[:8], nil
	if found, err = service(site).Findings(t.Context(), "1", FindingsQuery{Limit: 2 * results}); err != nil || found.More {
		t.Errorf("more %v, %v; want all of 8 MiB", found.More, err)
	}
}

// broken returns a site with failing documents h00000, h00001 and so on, which all have the rule's finding.
func broken(t *testing.T, documents int) *site {
	t.Helper()
	rule := validations.Rule{Schema: document.DigestOf("schema")}
	s := &site{
		revisions: []revisions.Revision{{ID: 1, Failed: true, Entries: documents}}, outcomes: map[int64][]validations.Outcome{1: {
			{Name: validations.SchemaValidation, Status: validations.Failure},
		}},
		findings: map[validations.Pair][]validations.Finding{}, texts: map[document.Digest][]byte{rule.Schema: []byte("{}")},
		errors: map[int64][]byte{},
	}
	for i := range documents {
		doc := revisionstest.Parsed(t, revisionstest.Widget(hostNamed(i).Name, fmt.Sprintf("{x: %d}", i), revisionstest.Cleartext))[0]
		s.failures = append(s.failures, revisions.FailedEntry{Failure: revisions.Failure{Entry: i, Rule: rule}, About: doc})
		s.findings[validations.PairOf(doc.Digest, rule)] = []validations.Finding{{Message: "wrong", Instance: []string{"x"}, SchemaPath: ".x"}}
	}
	return s
}

// post adds a failed result.
func (s *site) post(name string, size int, errors string) {
	id := int64(len(s.reported) + 1)
	s.outcomes[1] = append(s.outcomes[1], validations.Outcome{Name: name, Status: validations.Failure})
	s.reported = append(s.reported, Reported{ID: id, Name: name, Status: "failure", Size: size})
	s.errors[id] = []byte(errors)
}

// The last page says that there may be other findings only if no page has them.
func TestView_Findings_last(t *testing.T) {
	t.Parallel()
	const large = 9 << 20
	counted := fmt.Sprintf(`[{"message": "bad"}, {"message": %q, "unlisted": 9}]`, fault.Unlisted(9).Message)
	for name, c := range map[string]struct {
		post  func(*site)
		query FindingsQuery
		want  int
		more  bool
	}{
		"all":                     {func(*site) {}, FindingsQuery{}, 5, false},
		"with results":            {func(s *site) { s.post("a", 1, "[]"); s.post("b", 1, "[]") }, FindingsQuery{}, 7, false},
		"without a large result":  {func(s *site) { s.post("a", large, "[]"); s.post("b", 1, "[]") }, FindingsQuery{}, 6, true},
		"the others of a result":  {func(s *site) { s.post(validations.RenderingValidation, 1, counted) }, FindingsQuery{}, 6, true},
		"perhaps of a document":   {func(s *site) { s.post(validations.RenderingValidation, 1, counted) }, FindingsQuery{Document: "h00004"}, 1, true},
		"of a document":           {func(s *site) { s.post(validations.RenderingValidation, 1, "[]") }, FindingsQuery{Document: "h00004"}, 1, false},
		"which are not asked for": {func(s *site) { s.post(validations.RenderingValidation, 1, counted) }, FindingsQuery{Validation: validations.SchemaValidation}, 5, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := broken(t, 5)
			c.post(site)
			c.query.After, c.query.Limit = FindingPlace{Size: 2}, 10
			for shown, pages := 0, 1; ; pages++ {
				found, err := service(site).Findings(t.Context(), "1", c.query)
				if err != nil {
					t.Fatal(err)
				}
				shown, c.query.After = shown+len(found.Findings), found.Next
				if found.Next.Size > 0 {
					continue
				}
				windows := 3
				if c.query.Document != "" {
					windows = 1
				}
				if shown != c.want || found.More != c.more || pages != windows {
					t.Errorf("%d findings on %d pages, more %v, want %d, %v", shown, pages, found.More, c.want, c.more)
				}
				return
			}
		})
	}
}

// The findings of a document, and those of a posted validation, are found without those before them.
func TestView_Findings_ofOne(t *testing.T) {
	t.Parallel()
	const size = 5 << 20
	for name, c := range map[string]struct {
		query   FindingsQuery
		want    string
		queries []EntryQuery
	}{
		"of a document": {
			FindingsQuery{Document: "h00004"},
			"acme/Widget/v1/h00004",
			[]EntryQuery{{Limit: 2, FailuresOnly: true, Document: "h00004"}},
		},
		"of a posted validation": {FindingsQuery{Validation: "c"}, "bad c", nil},
		"of the server's": {
			FindingsQuery{Validation: validations.RenderingValidation},
			"bad deckhand-rendering-validation",
			[]EntryQuery{{Limit: 2, FailuresOnly: true}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := broken(t, 5)
			for _, name := range []string{"a", "b", "c", validations.RenderingValidation} {
				site.post(name, size, `[{"message": "bad `+name+`"}]`)
			}
			c.query.After, c.query.Limit = FindingPlace{Size: 1}, 10
			found, err := service(site).Findings(t.Context(), "1", c.query)
			if err != nil || len(found.Findings) != 1 {
				t.Fatalf("%v %v", found.Findings, err)
			}
			got := found.Findings[0].Message
			if id := found.Findings[0].Document; id.Name != "" {
				got = id.Schema + "/" + id.Name
			}
			if diff := cmp.Diff(c.queries, site.queries); diff != "" || got != c.want {
				t.Errorf("%s, want %s; entries that were read (-want +got)\n%s", got, c.want, diff)
			}
		})
	}
}
