package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/wire"
)

// modified returns n modified documents.
func modified(n int) (all []wire.Difference) {
	for i := range n {
		all = append(all, wire.Difference{
			Change: "modified", Bucket: "b", Schema: "acme/X/v1", Layer: "site", Name: fmt.Sprintf("x%d\x1b", i),
		})
	}
	return all
}

func TestRenderedText(t *testing.T) {
	t.Parallel()
	const unified = "@@ -1,2 +1,2 @@\n data:\n-  a: 1\n+  a: 2\x1b\n"
	for name, c := range map[string]struct {
		rendered wire.Rendered
		want     string
	}{
		"nothing": {wire.Rendered{}, "No rendered document that you may see would change.\n"},
		"one difference": {
			wire.Rendered{Count: 3, Modified: 3, Unlisted: 1, Differences: []wire.RenderedDifference{{Diff: new(unified), Documents: modified(2)}}},
			"3 rendered documents would change: modified=3\n    @@ -1,2 +1,2 @@\n     data:\n    -  a: 1\n    +  a: 2⟨U+001B⟩\n" +
				"  changed  [acme/X/v1, site] x0⟨U+001B⟩ (bucket b)\n  changed  [acme/X/v1, site] x1⟨U+001B⟩ (bucket b)\n" +
				"  and 1 other document, not listed\n",
		},
		"no text": {
			wire.Rendered{Count: 3, Modified: 1, Deleted: 1, Moved: 1, Differences: []wire.RenderedDifference{
				{Omitted: true, Documents: []wire.Difference{{Change: "deleted", Bucket: "b", Schema: "s", Name: "large"}}},
				{Diff: new(""), Encrypted: true, Documents: []wire.Difference{{Change: "modified", Bucket: "b", Schema: "s", Name: "secret"}}},
				{Diff: new(""), Documents: []wire.Difference{{Change: "moved", Bucket: "b", From: "a", Schema: "s", Name: "moved"}}},
			}},
			"3 rendered documents would change: modified=1, deleted=1, moved=1\n    (too large to be shown)\n  deleted  [s] large (bucket b)\n" +
				"    (data that are not shown, because a secret is among them)\n  changed  [s] secret (bucket b)\n" +
				"  moved    [s] moved (bucket b, from bucket a)\n",
		},
		"a side that does not render": {
			wire.Rendered{Unrendered: []wire.UnrenderedSide{{Side: "before", Revision: 7, Message: "no\nparent"}}},
			"warning: rendered documents are not compared: revision 7 cannot be rendered: no parent\n",
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, renderedText(c.rendered, false)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A question shows at most 40 lines, whatever changes, and counts the rest.
func TestRenderedBrief_bounded(t *testing.T) {
	t.Parallel()
	long := "@@ -0,0 +1,99 @@\n" + strings.Repeat("+line\n", 99)
	for differences := range 60 {
		rendered := wire.Rendered{Unlisted: 5}
		for range differences {
			rendered.Count += 7
			rendered.Differences = append(rendered.Differences, wire.RenderedDifference{Diff: &long, Documents: modified(7)})
		}
		rendered.Modified = rendered.Count
		got := renderedBrief(rendered, false)
		if lines := strings.Count(got, "\n"); lines > maxQuestion {
			t.Fatalf("%d differences: %d lines\n%s", differences, lines, got)
		}
		if rest := fmt.Sprintf("  and %d other differences in %d documents\n", differences-2, 7*(differences-2)); differences > 3 && !strings.Contains(got, rest) {
			t.Errorf("%q is not in\n%s", rest, got)
		}
	}
	short := "@@ -1,2 +1,2 @@\n data:\n-  a: 1\n+  a: 2\n"
	got := renderedBrief(wire.Rendered{Count: 200, Modified: 200, Differences: []wire.RenderedDifference{{Diff: &short, Documents: modified(200)}}}, false)
	if want := "  and 197 other documents with the same difference\n"; !strings.HasSuffix(got, want) {
		t.Errorf("%q is not the end of\n%s", want, got)
	}
}

func TestFailingText(t *testing.T) {
	t.Parallel()
	ids := []wire.Identity{{Schema: "acme/X/v1", Layer: "site", Name: "x", Bucket: "b"}, {Schema: "acme/X/v1", Name: "y"}}
	for want, failing := range map[string]*wire.Failing{
		"": nil,
		"Would begin to fail: 2 documents\n  [acme/X/v1, site] x (bucket b)\n  and 1 other document, not listed\n":      {Count: 2, Documents: ids},
		"Would begin to fail: at least 1 document\n  [acme/X/v1, site] x (bucket b)\n":                                  {Count: 1, More: true, Documents: ids[:1]},
		"Documents may begin to fail: those that fail are too many to be compared with those of the newest revision.\n": {More: true},
	} {
		if got := failingText(failing, 1); got != want {
			t.Errorf("(-want +got)\n%s", cmp.Diff(want, got))
		}
	}
}

// A question says what changes in rendered documents. Who may not compare revisions, or asks an older server, is asked
// without that.
func TestPush_asksWithRendered(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte("schema: acme/X/v1\nmetadata: {name: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for status, want := range map[int]string{
		http.StatusOK: "  would delete  b  [acme/X/v1] gone\n1 rendered document would change: modified=1\n    @@ -1 +1 @@\n    -a: 1\n    +a: 2\n" +
			"  changed  [acme/X/v1] x (bucket b)\nWould begin to fail: 1 document\n  [acme/X/v1] x (bucket b)\nDelete 1 document? [y/N] ",
		http.StatusForbidden:  "  would delete  b  [acme/X/v1] gone\nDelete 1 document? [y/N] ",
		http.StatusBadRequest: "  would delete  b  [acme/X/v1] gone\nDelete 1 document? [y/N] ",
	} {
		f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			switch {
			case q.Get("rendered") == "true" && status != http.StatusOK:
				w.WriteHeader(status)
				fmt.Fprint(w, `{"kind":"Status","message":"no"}`)
			case q.Get("dry-run") == "true":
				text := `"changed":true,"changes":{"deleted":1},"documents":[
					{"change":"deleted","bucket":"b","schema":"acme/X/v1","layer":null,"name":"gone"}]`
				if q.Get("rendered") == "true" {
					text += `,"rendered":{"count":1,"modified":1,"differences":[{"diff":"@@ -1 +1 @@\n-a: 1\n+a: 2\n","documents":[
						{"change":"modified","bucket":"b","schema":"acme/X/v1","layer":null,"name":"x"}]}]},
						"beginToFail":{"count":1,"documents":[{"schema":"acme/X/v1","layer":null,"name":"x","bucket":"b"}]}`
				}
				fmt.Fprint(w, "{"+text+"}")
			case q.Get("max-deleted") == "0":
				w.WriteHeader(http.StatusConflict)
				fmt.Fprint(w, `{"kind":"Status","message":"too many","details":{"errorType":"TooManyDeleted"}}`)
			default:
				fmt.Fprint(w, `{"findings":[]}`)
			}
		})
		var out, said bytes.Buffer
		run(t.Context(), []string{"push", "b", file, "--server", f.URL}, surroundings{
			stdin: strings.NewReader("y\n"), stdout: &out, stderr: &said, asks: true,
		})
		if diff := cmp.Diff(want, said.String()); diff != "" {
			t.Errorf("%d (-want +got)\n%s", status, diff)
		}
	}
}

// purser diff --rendered shows each difference once; -o unified shows each document, and an older server is asked for
// that.
func TestDiff_grouped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args     string
		old      bool
		answer   string
		want     string
		code     int
		requests []string
	}{
		"by default": {
			"diff 1 2 --rendered --exit-code", false,
			`{"count":1,"modified":1,"differences":[{"diff":"@@ -1 +1 @@\n-a: 1\n+a: 2\n","documents":[{"change":"modified","bucket":"b","schema":"s","layer":null,"name":"x"}]}]}`,
			"    @@ -1 +1 @@\n    -a: 1\n    +a: 2\n  changed  [s] x (bucket b)\n", 1,
			[]string{"GET revisions/1/deepdiff/2?diff=unified&format=grouped&rendered=true"},
		},
		"equal": {"diff 1 2 --rendered --exit-code", false, `{"count":0}`, "", 0, []string{"GET revisions/1/deepdiff/2?diff=unified&format=grouped&rendered=true"}},
		"submitted": {
			"diff 1 2 -o grouped", false, `{"count":0}`, "", 0, []string{"GET revisions/1/deepdiff/2?diff=unified&format=grouped&rendered=false"},
		},
		"a side does not render": {
			"diff 1 2 --rendered", false, `{"count":0,"unrendered":[{"side":"after","revision":2,"message":"no parent"}]}`, "", 2,
			[]string{"GET revisions/1/deepdiff/2?diff=unified&format=grouped&rendered=true"},
		},
		"by document": {"diff 1 2 --rendered -o unified", false, "--- a\n+++ b\n", "--- a\n+++ b\n", 0, []string{"GET revisions/1/deepdiff/2?format=unified&rendered=true"}},
		"an older server": {
			"diff 1 2 --rendered", true, "--- a\n+++ b\n", "--- a\n+++ b\n", 0,
			[]string{"GET revisions/1/deepdiff/2?diff=unified&format=grouped&rendered=true", "GET revisions/1/deepdiff/2?format=unified&rendered=true"},
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
				if c.old && r.URL.Query().Get("format") == "grouped" {
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprint(w, `{"kind":"Status","message":"bad"}`)
					return
				}
				if r.URL.Query().Get("format") == "unified" {
					w.Header().Set("Content-Type", "text/plain")
				}
				fmt.Fprint(w, c.answer)
			})
			stdout, stderr, code := purser(t, append(strings.Fields(c.args), "--server", f.URL)...)
			if diff := cmp.Diff(c.want, stdout) + cmp.Diff(c.requests, f.asked); diff != "" || code != c.code {
				t.Errorf("exit code %d, want %d (-want +got)\n%s\n%s", code, c.code, diff, stderr)
			}
			if c.code == 2 && !strings.Contains(stderr, "revision 2 cannot be rendered: no parent") {
				t.Errorf("it says %q", stderr)
			}
		})
	}
}
