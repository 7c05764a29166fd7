package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestRendering_atOnce(t *testing.T) {
	t.Parallel()
	s := startFresh(t)
	const length = 300
	for i := range 3 {
		s.put(t, "a", strings.ReplaceAll(heavy(length), "{k0: 0}", fmt.Sprintf("{k0: %d}", i))).is(t, http.StatusOK)
	}
	last := fmt.Sprintf("/rendered-documents?metadata.name=w%d", length-1)
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			revision := i%3 + 1
			path := fmt.Sprintf("revisions/%d", revision) + last
			if i%4 == 3 { // the client disconnects soon
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
				defer cancel()
				_, _ = s.try(ctx, request{method: http.MethodGet, path: path})
				return
			}
			a, err := s.try(t.Context(), request{method: http.MethodGet, path: path, header: map[string]string{"Accept": typeJSON}})
			if err != nil {
				t.Error(err)
				return
			}
			if a.status != http.StatusOK || !strings.Contains(a.text, fmt.Sprintf(`"k0":%d,`, revision-1)) || !strings.Contains(a.text, fmt.Sprintf(`"k%d":%d}`, length-1, length-1)) {
				t.Errorf("revision %d: %d\n%s", revision, a.status, brief(a.text))
			}
		})
	}
	all.Wait()
	if metrics := s.get(t, "/metrics").text; strings.Contains(metrics, `status="5`) {
		t.Errorf("an error of the server's:\n%s", s.log.text())
	}
}
