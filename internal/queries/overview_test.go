package queries

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// policyOf returns a policy that requires validations; those with a duration expire.
func policyOf(name, data string) revisions.PolicyVersion {
	id := document.Identity{Schema: "deckhand/ValidationPolicy/v1", Layer: "site", Name: name}
	return revisions.PolicyVersion{Policy: validations.ParsePolicy(id, []byte(data), false), Since: 1}
}

func TestView_Overview(t *testing.T) {
	t.Parallel()
	posted := at().Add(-time.Hour)
	own := Watched{Name: validations.SchemaValidation}
	for name, c := range map[string]struct {
		policies []revisions.PolicyVersion
		outcomes []validations.Outcome
		required []Watched
		counts   map[Counted]int
	}{
		"no policy": {
			outcomes: []validations.Outcome{{Name: "mini", At: posted}},
			required: []Watched{own, {Name: "mini", PostedAt: posted}}, counts: map[Counted]int{},
		},
		"the first expiry counts": {
			policies: []revisions.PolicyVersion{
				policyOf("a", `{"validations": [{"name": "mini", "expiresAfter": "P1D"}, {"name": "deckhand-schema-validation"}]}`),
				policyOf("b", `{"validations": [{"name": "mini", "expiresAfter": "PT2H"}, {"name": "mini"}]}`),
			},
			outcomes: []validations.Outcome{{Name: "mini", At: posted}},
			required: []Watched{{Name: "mini", PostedAt: posted, ExpiresAt: posted.Add(2 * time.Hour)}, own}, counts: map[Counted]int{},
		},
		"expired by one of two": {
			policies: []revisions.PolicyVersion{
				policyOf("a", `{"validations": [{"name": "mini", "expiresAfter": "PT1M"}]}`),
				policyOf("b", `{"validations": [{"name": "mini"}]}`),
			},
			outcomes: []validations.Outcome{{Name: "mini", At: posted}},
			required: []Watched{{Name: "mini", Status: validations.Expired, PostedAt: posted, ExpiresAt: posted.Add(time.Minute)}},
			counts:   map[Counted]int{{Validation: "mini", Level: LevelError}: 1},
		},
		"missing, and a failure that does not count": {
			policies: []revisions.PolicyVersion{policyOf("a", `{"validations": [{"name": "mini", "expiresAfter": "P1D"}]}`)},
			outcomes: []validations.Outcome{{Name: "other", Status: validations.Failure, At: posted}},
			required: []Watched{{Name: "mini", Status: validations.Missing}},
			counts:   map[Counted]int{{Validation: "mini", Level: LevelError}: 1, {Validation: "other", Level: LevelWarning}: 2},
		},
		"a failure does not expire": {
			policies: []revisions.PolicyVersion{policyOf("a", `{"validations": [{"name": "other", "expiresAfter": "PT1M"}]}`)},
			outcomes: []validations.Outcome{{Name: "other", Status: validations.Failure, At: posted}},
			required: []Watched{{Name: "other", Status: validations.Failure, PostedAt: posted}},
			counts:   map[Counted]int{{Validation: "other", Level: LevelError}: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := &site{
				revisions: []revisions.Revision{{ID: 1}}, policies: c.policies, outcomes: map[int64][]validations.Outcome{1: c.outcomes},
				reported: []Reported{{ID: 7, Name: "other", Status: "failure"}},
				errors:   map[int64][]byte{7: []byte(`[{"message": "one"}, {"message": "two"}]`)},
			}
			got, err := service(site).Overview(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.required, got.Required); diff != "" {
				t.Errorf("required (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.counts, numbersOf(got.Counts)); diff != "" {
				t.Errorf("counts (-want +got)\n%s", diff)
			}
		})
	}
}

// numbersOf returns the numbers of findings without those of documents.
func numbersOf(counts map[Counted]Number) map[Counted]int {
	numbers := map[Counted]int{}
	for of, n := range counts {
		numbers[of] = n.Findings
	}
	return numbers
}

// Findings are counted once, and again after a newer result is posted.
func TestView_Overview_countsOnce(t *testing.T) {
	t.Parallel()
	outcome := validations.Outcome{Name: "mini", Status: validations.Failure, At: at()}
	site := &site{
		revisions: []revisions.Revision{{ID: 1}}, outcomes: map[int64][]validations.Outcome{1: {outcome}},
		reported: []Reported{{ID: 7, Name: "mini", Status: "failure"}}, errors: map[int64][]byte{7: []byte(`[]`)},
	}
	view := service(site)
	for _, want := range []int{1, 1, 2} {
		if want == 2 {
			outcome.At = at().Add(time.Second)
			site.outcomes[1] = []validations.Outcome{outcome}
		}
		if _, err := view.Overview(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(site.ids) != want {
			t.Errorf("results were read %d times, want %d", len(site.ids), want)
		}
	}
}

// Of many failing documents, monitoring describes the first: a count that takes too long is repeated by each scrape.
func TestView_Overview_bounded(t *testing.T) {
	t.Parallel()
	failing := revisions.Revision{ID: 1, Failed: true, Entries: 10_000}
	site := &site{revisions: []revisions.Revision{failing}}
	if _, err := service(site).Overview(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(site.queries) != 1 || site.queries[0].Limit != fewFindings+1 {
		t.Errorf("it reads %+v, want one of %d documents", site.queries, fewFindings+1)
	}
}

func TestView_Overview_empty(t *testing.T) {
	t.Parallel()
	got, err := service(&site{}).Overview(t.Context())
	if err != nil || got.ID != 0 || got.Required != nil {
		t.Errorf("of a site without revisions: %+v, %v", got, err)
	}
}
