package e2e_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// atOnce sends PUTs at the same time and counts the statuses of their answers.
func (s *server) atOnce(t *testing.T, n int, put func(i int) (bucket, documents string)) map[int]int {
	t.Helper()
	answers := make([]answer, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			bucket, documents := put(i)
			a, err := s.try(t.Context(), request{
				method: http.MethodPut, path: "buckets/" + bucket + "/documents", body: documents, header: yamlBody(),
				bad: true, // the contract is too slow to check for the bodies of some tests
			})
			if err != nil {
				t.Error(err)
			}
			answers[i] = a
		})
	}
	all.Wait()
	statuses := map[int]int{}
	for _, a := range answers {
		statuses[a.status]++
		if err := checkContract(s.url, a); err != nil {
			t.Errorf("PUT (answer %d) breaks openapi.yaml: %v", a.status, err)
		}
	}
	return statuses
}

func TestConcurrentPuts(t *testing.T) {
	t.Parallel()
	const n = 12
	for name, c := range map[string]struct {
		put       func(i int) (bucket, documents string)
		statuses  map[int]int
		revisions int
		documents int
	}{
		"to different buckets make a revision each": {
			func(i int) (string, string) { return fmt.Sprintf("b%d", i), widget(fmt.Sprintf("w%d", i), "{}") },
			map[int]int{http.StatusOK: n},
			n, n,
		},
		"to one bucket come in some order": {
			func(i int) (string, string) { return "b", widget("w", fmt.Sprintf("{x: %d}", i)) },
			map[int]int{http.StatusOK: n},
			n, 1,
		},
		"of the same make one revision": {
			func(int) (string, string) { return "b", widget("w", "{}") },
			map[int]int{http.StatusOK: n},
			1, 1,
		},
		"of one document to different buckets have one winner": {
			func(i int) (string, string) { return fmt.Sprintf("b%d", i), widget("w", "{}") },
			map[int]int{http.StatusOK: 1, http.StatusConflict: n - 1},
			1, 1,
		},
		"of different LayeringPolicies have one winner": {
			func(i int) (string, string) { return fmt.Sprintf("b%d", i), layeringPolicy(fmt.Sprintf("lp%d", i)) },
			map[int]int{http.StatusOK: 1, http.StatusConflict: n - 1},
			1, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			if diff := cmp.Diff(c.statuses, s.atOnce(t, n, c.put)); diff != "" {
				t.Errorf("answers by status (-want +got):\n%s", diff)
			}
			s.isRevision(t, c.revisions)
			if got := len(s.get(t, "revisions/latest/documents").documents(t)); got != c.documents {
				t.Errorf("%d documents, want %d", got, c.documents)
			}
		})
	}
}
