package queries

import (
	"fmt"
	"testing"

	"purser/internal/revisions"
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
