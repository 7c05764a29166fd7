package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/wire"
)

// history is a server with revisions, from the first to the last, that form a chain; edits change its answers.
type history struct {
	first, last int
	unchained   int            // revisions without a value
	of          map[int]string // what the text of a revision has besides, after it was made
	chains      map[int]string
}

// made returns the text of a revision.
func (h *history) made(id int, more string) string {
	previous := "null"
	if id > h.unchained+1 {
		previous = strconv.Quote(h.chain(id - 1))
	}
	return fmt.Sprintf(`{"previous": %s, "revision": %d, "stamp": "c%015d"%s}`, previous, id, id, more)
}

// chain returns the value of a revision, as it was made.
func (h *history) chain(id int) string {
	if changed, ok := h.chains[id]; ok {
		return changed
	}
	if id <= h.unchained {
		return ""
	}
	return chainOf(json.RawMessage(h.made(id, "")))
}

// answers returns the list of revisions and the links.
func (h *history) answers() (revisions []wire.Revision, links map[int64]wire.Link) {
	links = map[int64]wire.Link{}
	for id := h.first; id <= h.last; id++ {
		revision := wire.Revision{ID: int64(id), Stamp: fmt.Sprintf("c%015d", id), Chain: h.chain(id)}
		revisions = append(revisions, revision)
		if id <= h.unchained {
			continue
		}
		link := wire.Link{Chain: revision.Chain, Of: json.RawMessage(h.made(id, h.of[id]))}
		if id == h.first && id > 1 {
			link.Unchecked = []string{"previous", "removed"}
		}
		links[revision.ID] = link
	}
	return revisions, links
}

// serve returns a server that answers so.
func (h *history) serve(t *testing.T) *fake {
	t.Helper()
	revisions, links := h.answers()
	return newFake(t, func(w http.ResponseWriter, r *http.Request) {
		var answer any = wire.List[wire.Revision]{Count: len(revisions), Results: revisions}
		if path, found := strings.CutSuffix(r.URL.Path, "/chain"); found {
			id, _ := strconv.ParseInt(path[strings.LastIndexByte(path, '/')+1:], 10, 64)
			answer = links[id]
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	})
}

// event is a saved event about a revision.
func event(id int, chain, source string) string {
	return fmt.Sprintf(`{"id":"%d","source":%q,"type":"purser.revision.created","time":"2026-08-01T10:00:00Z",`+
		`"data":{"revision":%[1]d,"chain":%[3]q}}`, id, source, chain)
}

// A history is what was stored, or the command says where it is not.
func TestVerify_history(t *testing.T) {
	t.Parallel()
	whole := func() *history { return &history{first: 1, last: 4} }
	const source, other = "/api/v1.0", "/sites/atl1/api/v1.0"
	for name, c := range map[string]struct {
		history *history
		events  []string
		code    int
		want    string
	}{
		"unbroken": {whole(), nil, 0, "revisions 1 to 4: the chain is unbroken\n"},
		"empty":    {&history{first: 1}, nil, 0, "there is no revision\n"},
		"one":      {&history{first: 1, last: 1}, nil, 0, "revision 1: the chain is unbroken\n"},
		"upgraded": {
			&history{first: 1, last: 4, unchained: 2}, nil, 0, "revisions 3 to 4: the chain is unbroken\n" +
				"revisions 1 to 2: not checked, without a chain value: an earlier version of Purser made them\n",
		},
		"pruned": {
			&history{first: 3, last: 4}, nil, 0, "revisions 3 to 4: the chain is unbroken\nrevision 3: the one before was " +
				"deleted. Which documents it ended is not checked, and neither are those that it took over\n",
		},
		"a row was changed": {
			&history{first: 1, last: 4, of: map[int]string{2: `, "user": "eve"`}}, nil, 1,
			"revisions 1 and 3 to 4: the chain is unbroken\nrevision 2: the database has something else now, about it or about " +
				"the documents that it begins and ends, than what its chain value " +
				shortChain(whole().chain(2)) + " was made from\n",
		},
		"a value was changed": {
			&history{first: 1, last: 2, chains: map[int]string{2: "ab"}}, nil, 1,
			"revision 1: the chain is unbroken\nrevision 2: the database has something else now, about it or about the " +
				"documents that it begins and ends, than what its chain value ab… was made from\n",
		},
		"events agree": {
			whole(),
			[]string{event(2, whole().chain(2), source), event(4, whole().chain(4), source), event(9, "ab", other)},
			0, "revisions 1 to 4: the chain is unbroken\nevents: 2 of 2 agree\n",
		},
		"events of deleted revisions": {
			&history{first: 3, last: 4},
			[]string{event(1, "ab", source), event(2, whole().chain(2), source)},
			0,
			"revisions 3 to 4: the chain is unbroken\nrevision 3: the one before was deleted. Which documents it ended is not " +
				"checked, and neither are those that it took over\n" +
				"events: 1 of 2 agree, 1 is about a revision that was deleted since\n",
		},
		"restored, and changed again": {
			whole(),
			[]string{event(2, whole().chain(2), source), event(4, "ab", source), event(3, "cd", source)},
			1,
			"revisions 1 to 4: the chain is unbroken\nrevision 3: the histories part here. The event of 2026-08-01T10:00:00Z " +
				"has the chain value cd…, and the site has " + shortChain(whole().chain(3)) +
				": the site was restored, purged or changed since\nevents: 1 of 3 agree\n",
		},
		"restored": {
			whole(),
			[]string{event(5, "ab", source)},
			1,
			"revisions 1 to 4: the chain is unbroken\nrevision 5: the histories part here. The event of 2026-08-01T10:00:00Z " +
				"has the chain value ab…, and the newest revision of the site is 4: the site was restored, purged or changed " +
				"since\nevents: 0 of 1 agree\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"verify"}
			if c.events != nil {
				path := filepath.Join(t.TempDir(), "events.jsonl")
				if err := os.WriteFile(path, []byte(strings.Join(c.events, "\n")), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--events", path)
			}
			stdout, stderr, code := purser(t, append(args, "--server", c.history.serve(t).URL)...)
			if diff := cmp.Diff(c.want, stdout); diff != "" || code != c.code {
				t.Errorf("exit code %d, want %d, stderr %q (-want +got)\n%s", code, c.code, stderr, diff)
			}
		})
	}
}

// A file without events is refused.
func TestVerify_noEvents(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events")
	for text, want := range map[string]string{
		"no json": "invalid character", `{"a": 1}`: "something else than events of Purser", "[1]": "something else",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		server := (&history{first: 1, last: 1}).serve(t)
		_, stderr, code := purser(t, "verify", "--events", path, "--server", server.URL)
		if code != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q", text, code, stderr)
		}
	}
}
