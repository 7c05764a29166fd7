package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
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

// joined joins files of which one continues the one before it.
func joined(files []document.File) (all []document.File) {
	for _, f := range files {
		if last := len(all) - 1; last >= 0 && f.Path == all[last].Path && f.Bucket == all[last].Bucket &&
			f.Line == all[last].Line+strings.Count(string(all[last].Text), "\n") {
			all[last].Text = append(all[last].Text, f.Text...)
			all[last].Bytes = len(all[last].Text)
			continue
		}
		all = append(all, f)
	}
	return all
}

// commented returns a file of some documents with comments, as a list in every third round, at other paths in others.
func commented(round int, comments []string) document.File {
	var text, list strings.Builder
	for i, comment := range comments {
		doc := widget(fmt.Sprint("w", i), "{}")
		text.WriteString(doc + comment)
		list.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(strings.TrimPrefix(doc, "---\n")), "\n", "\n  ") + "\n" + comment)
	}
	file := document.File{Path: fmt.Sprintf("%d.yaml", round/6), Text: []byte(text.String())}
	if round%3 == 2 { // one text of all documents
		file.Text = []byte(list.String())
	}
	return file
}

// If two servers change only comments of a bucket at the same time, each those of other documents, it has the comments of
// one of them, with the path and the lines of its file. Nothing is made of both.
func TestConcurrentPuts_comments(t *testing.T) {
	t.Parallel()
	one := startFresh(t)
	servers := []*server{one, startOn(t, one.database)}
	const rounds, documents = 15, 4
	live := make([]string, documents) // comments
	one.put(t, "b", string(commented(0, live).Text)).is(t, http.StatusOK)
	var won [2]int
	for round := range rounds {
		var both sync.WaitGroup
		var wrote [2][]string
		var files [2][]document.File
		for by, s := range servers {
			wrote[by] = slices.Clone(live)
			for i := by; i < documents; i += len(servers) {
				wrote[by][i] = strings.Repeat(fmt.Sprintf("# %d of %d\n", round, by), 1+(round/2+by)%2)
			}
			file := commented(round, wrote[by])
			body := string(document.AppendFile(nil, file))
			file.Bucket, file.Line, file.Bytes = "b", 1, len(file.Text)
			files[by] = []document.File{file}
			both.Go(func() {
				a, err := s.try(t.Context(), request{
					method: http.MethodPut, path: "buckets/b/documents", body: body, header: yamlBody(),
				})
				if err != nil || a.status != http.StatusOK {
					t.Errorf("%d of %d: status %d, %v\n%s", round, by, a.status, err, brief(a.text))
				}
			})
		}
		both.Wait()
		submitted := one.get(t, "revisions/1/documents?form=submitted").is(t, http.StatusOK).text
		if other := servers[1].get(t, "revisions/1/documents?form=submitted").text; other != submitted {
			t.Errorf("round %d: server 1 has\n%s\nand server 2\n%s", round, submitted, other)
		}
		got, _, err := document.Files([]byte(submitted), documents+1)
		if err != nil {
			t.Fatal(err)
		}
		first, second := cmp.Diff(files[0], joined(got)), cmp.Diff(files[1], joined(got))
		last := 0
		switch {
		case first != "" && second != "":
			t.Fatalf("round %d: neither that of server 1 nor that of server 2 (-want +got):\n%s\n%s", round, first, second)
		case first != "":
			last = 1
		}
		live = wrote[last]
		won[last]++
	}
	t.Logf("rounds by who was last: %v", won)
	one.isRevision(t, 1)
}
