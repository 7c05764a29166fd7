package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"purser/internal/store/storetest"
)

// maxPeak bounds the memory of a server in bytes, whatever requests it gets. A server with half the default memory, for
// requests of half the size, has half the bound.
const (
	maxPeak  = 1 << 30
	halfPeak = maxPeak / 2
)

func startHalf(t *testing.T, flags ...string) *server {
	t.Helper()
	return startLean(t, append(flags, "--memory", "512MiB", "--max-body", "16MiB")...)
}

// changesWhile repeats a small change while busy keeps the server busy, with pauses. The change must succeed each time.
func (s *server) changesWhile(t *testing.T, busy func()) {
	t.Helper()
	done, other := make(chan struct{}), sync.WaitGroup{}
	other.Go(func() {
		for i := 0; ; i++ {
			s.put(t, "other", widget("other", fmt.Sprintf("{x: %d}", i))).is(t, http.StatusOK)
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	busy()
	close(done)
	other.Wait()
}

// times sends n requests at the same time and returns the answers.
func (s *server) times(t *testing.T, n int, of func(i int) request) []answer {
	t.Helper()
	answers := make([]answer, n)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			r := of(i)
			r.bad = true // the contract is too slow to check for these bodies
			var err error
			if answers[i], err = s.try(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return answers
}

// With many of the largest requests at the same time, the server stays below its memory and answers other requests.
func TestHostile_atOnce(t *testing.T) {
	t.Parallel()
	s := startHalf(t)
	s.put(t, "policy", layeringPolicy("lp")).is(t, http.StatusOK)
	wide := "{type: array, items: {anyOf: [" + numbered("{required: [a%d]}, ", 3000) + "]}}"
	s.put(t, "schemas", dataSchema("acme/Wide/v1", wide)).is(t, http.StatusOK)
	wides := func(i int) string {
		var documents strings.Builder
		for k := range 12 {
			documents.WriteString(doc("acme/Wide/v1", fmt.Sprintf("wide-%d-%d", i, k), fmt.Sprintf("[%s{own: %d-%d}]", strings.Repeat("{},", 2_700), i, k)))
		}
		return documents.String()
	}
	var large strings.Builder
	for i := range 300 {
		large.WriteString(doc("acme/Large/v1", fmt.Sprintf("large-@-%d", i), "{"+numbered("key%d: value, ", 500)+"}"))
	}
	for _, c := range []struct {
		name   string
		n      int
		status int
		of     func(i int) request
	}{
		{"checks", 3, http.StatusRequestEntityTooLarge, func(i int) request { return putOf(fmt.Sprintf("wide-%d", i), wides(i)) }},
		{"bodies", 8, http.StatusOK, func(i int) request {
			return putOf(fmt.Sprintf("large-%d", i), strings.ReplaceAll(large.String(), "@", strconv.Itoa(i)))
		}},
		{"documents", 8, http.StatusOK, func(int) request { return getOf("revisions/latest/documents") }},
		{"rendered documents", 8, http.StatusOK, func(int) request {
			return getOf("revisions/latest/rendered-documents")
		}},
		{"graphs", 8, http.StatusOK, func(i int) request { return getOf(fmt.Sprintf("revisions/latest/graph?depth=%d", i)) }},
		{"deep diffs", 8, http.StatusOK, func(int) request {
			return getOf("revisions/2/deepdiff/latest?format=unified")
		}},
	} {
		s.changesWhile(t, func() {
			for _, got := range s.times(t, c.n, c.of) {
				if got.status != c.status && got.status != http.StatusServiceUnavailable {
					t.Errorf("%s: status %d, want %d\n%.500s", c.name, got.status, c.status, got.text)
				}
			}
		})
		if peak := s.mostMemory(t); peak > halfPeak {
			t.Errorf("%s: the server has had %d MiB, want at most %d", c.name, peak>>20, halfPeak>>20)
		}
	}
}

// Differences many times larger than the documents are refused in each format before they fill the memory.
func TestHostile_largeDifferences(t *testing.T) {
	t.Parallel()
	s := startLean(t)
	s.put(t, "policy", layeringPolicy("lp")).is(t, http.StatusOK)
	nested := strings.Repeat("[", 90) + strings.Repeat("1,", 98_000) + strings.Repeat("]", 90)
	var before, after strings.Builder
	for i := range 60 {
		name := fmt.Sprintf("w%d", i)
		before.WriteString(widget(name, "{x: "+nested+"}"))
		after.WriteString(widget(name, "{x: 1}"))
	}
	s.put(t, "site", before.String()).is(t, http.StatusOK)
	s.put(t, "site", after.String()).is(t, http.StatusOK)
	for _, of := range []string{
		"2/deepdiff/3?format=deepdiff", "2/deepdiff/3?format=unified", "2/deepdiff/3?format=json-patch",
		"0/deepdiff/2?format=unified",
	} {
		path := "revisions/" + of + "&rendered=false"
		s.changesWhile(t, func() {
			for _, got := range s.times(t, 2, func(int) request { return getOf(path) }) {
				if len(got.text) > 64<<20 || got.status == http.StatusInternalServerError {
					t.Errorf("%s: status %d, %d bytes", path, got.status, len(got.text))
				}
			}
		})
		if peak := s.mostMemory(t); peak > maxPeak {
			t.Fatalf("%s: the server has had %d MiB, want at most %d", path, peak>>20, maxPeak>>20)
		}
	}
}

// Small requests that make the server read a large site are charged for what it reads, so that many of them at the same
// time also leave the server below its memory.
func TestHostile_tinyOfLargeSite(t *testing.T) {
	t.Parallel()
	s := startHalf(t, schemasOnly) // the site is too large to be rendered
	s.put(t, "policy", layeringPolicy("lp")).is(t, http.StatusOK)
	const buckets = 6 // with 16 MB each
	emptied := make([]string, buckets)
	for b := range buckets {
		var large strings.Builder
		for i := range 4 {
			large.WriteString(doc("acme/Large/v1", fmt.Sprintf("large-%d-%d", b, i), strings.Repeat("x", 4_100_000)))
		}
		emptied[b] = fmt.Sprintf("buckets=large-%d", b)
		s.put(t, fmt.Sprintf("large-%d", b), large.String()).is(t, http.StatusOK)
	}
	schema := dataSchema("acme/Large/v1", "{type: object}")
	for _, c := range []struct {
		name string
		of   request
	}{
		{"a dry run that empties buckets", request{
			method: http.MethodPut, path: "changesets?dry-run=true&" + strings.Join(emptied, "&"), header: yamlBody(),
		}},
		{"a dry run of a schema for all", request{
			method: http.MethodPut, path: "buckets/schemas/documents?dry-run=true", body: schema, header: yamlBody(),
		}},
		{"a dry run of a rollback", request{method: http.MethodPost, path: "rollback/1?dry-run=true"}},
		{"the details of failures", getOf("revisions/latest/validations/detail")},
	} {
		s.changesWhile(t, func() {
			for _, got := range s.times(t, 8, func(int) request { return c.of }) {
				if got.status != http.StatusOK {
					t.Errorf("%s: status %d\n%.500s", c.name, got.status, got.text)
				}
			}
		})
		if peak := s.mostMemory(t); peak > halfPeak {
			t.Errorf("%s: the server has had %d MiB, want at most %d", c.name, peak>>20, halfPeak>>20)
		}
		s.put(t, "schemas", schema).is(t, http.StatusOK)
	}
}

func putOf(bucket, documents string) request {
	return request{method: http.MethodPut, path: "buckets/" + bucket + "/documents", body: documents, header: yamlBody()}
}

func getOf(path string) request { return request{method: http.MethodGet, path: path} }

// The size of answers about validations does not grow with the product of policies and entries, nor with errors that
// are not shown.
func TestHostile_validationLists(t *testing.T) {
	t.Parallel()
	s := startLean(t)
	var policies, documents strings.Builder
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("v%d-validation", i))
	}
	for i := range 33 {
		policies.WriteString(policy(fmt.Sprintf("policy-%d", i), names...))
	}
	for i := range 1000 {
		documents.WriteString(widget(fmt.Sprintf("w%d", i), "{x: 1}"))
	}
	s.put(t, "policies", policies.String()).is(t, http.StatusOK)
	s.put(t, "site", documents.String()).is(t, http.StatusOK)
	detail := s.get(t, "revisions/latest/validations/detail").is(t, http.StatusOK)
	if most := 2 << 20; len(detail.text) > most {
		t.Errorf("validations/detail has %d bytes, want at most %d", len(detail.text), most)
	}
	big, err := json.Marshal(map[string]any{
		"status": "failure", "validator": map[string]any{"name": "x"},
		"errors": []any{map[string]any{"message": strings.Repeat("m", 450_000)}, map[string]any{"message": "second"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		s.post(t, fmt.Sprintf("revisions/latest/validations/big-%d", i%2), string(big)).is(t, http.StatusCreated)
	}
	s.affords(t, func() {
		list := s.get(t, "revisions/latest/validations/big-1").is(t, http.StatusOK)
		if most := 4 << 10; len(list.text) > most {
			t.Errorf("the list has %d bytes, want at most %d", len(list.text), most)
		}
	})
	// Pages of details end early if errors are large. Together, they contain everything.
	entries, path := 0, "revisions/latest/validations/detail?limit=1000"
	for pages := 0; path != ""; pages++ {
		page := s.get(t, path).is(t, http.StatusOK)
		if most := 16 << 20; len(page.text) > most || pages > 20 {
			results, _ := page.mapping(t)["results"].([]any)
			t.Fatalf("page %d has %d bytes, %d entries", pages, len(page.text), len(results))
		}
		found := page.mapping(t)
		results, _ := found["results"].([]any)
		entries += len(results)
		next, _ := found["next"].(string)
		_, path, _ = strings.Cut(next, "/api/v1.0/")
	}
	if want := 1000 + 50 + len(names); entries != want {
		t.Errorf("%d entries on all pages, want %d", entries, want)
	}
}

// A change that is conditional on an old revision is always refused for that reason, even with two servers, and never
// for a conflict that exists only in the newer revision.
func TestConditions_twoServers(t *testing.T) {
	t.Parallel()
	database := storetest.URL(t)
	servers := []*server{startOn(t, database), startOn(t, database)}
	const rounds, writers = 10, 10
	for round := range rounds {
		newest := `"` + strconv.Itoa(round) + `"`
		statuses := make([]int, writers)
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				r := putOf(fmt.Sprintf("bucket-%d", w), widget(fmt.Sprintf("same-%d", round), fmt.Sprintf("{x: %d}", w)))
				r.header["If-Match"] = newest
				got, err := servers[w%2].try(t.Context(), r)
				if err != nil {
					t.Error(err)
				}
				statuses[w] = got.status
			})
		}
		all.Wait()
		counted := map[int]int{}
		for _, status := range statuses {
			counted[status]++
		}
		if counted[http.StatusOK] != 1 || counted[http.StatusPreconditionFailed] != writers-1 {
			t.Errorf("round %d: %v, want one 200 and 412 for all others", round, counted)
		}
	}
}
