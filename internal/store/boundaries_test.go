package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
)

// changesOf lists the changes of the widget w, the newest first, as "change: before to after @revision by user"; the
// user is missing where the revision is deleted.
func changesOf(t failer, view queries.View, page queries.Page) (lines []string, more bool) {
	t.Helper()
	id := document.Identity{Schema: "acme/Widget/v1", Layer: "site", Name: "w"}
	found, more, err := view.History(context.Background(), id, page)
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			return nil, false
		}
		t.Fatalf("history: %v", err)
	}
	for _, c := range found {
		line := fmt.Sprintf("%v: %s to %s @%d", c.Difference, dataOf(c.Before), dataOf(c.After), c.Revision)
		if !c.At.IsZero() {
			line += " by " + c.User
		}
		lines = append(lines, line)
	}
	return lines, more
}

func dataOf(doc *revisions.Stored) string {
	if doc == nil {
		return "none"
	}
	return fmt.Sprintf("%s@%d", doc.Data, doc.Revision)
}

// expectedChanges derives the result of changesOf from the documents of the remaining revisions, and from the ends of
// versions by their beginnings.
func expectedChanges(t failer, view queries.View, left []int64, ends map[int64]int64) (lines []string) {
	t.Helper()
	var before *revisions.Stored
	by := func(revision, cause int64) string {
		if slices.Contains(left, cause) {
			return fmt.Sprintf("@%d by user %d", revision, cause)
		}
		return fmt.Sprintf("@%d", revision)
	}
	for _, revision := range left {
		found, err := view.Documents(context.Background(), revision, queries.Selection{Names: []string{"w"}, Page: queries.Page{Limit: -1}})
		if err != nil {
			t.Fatalf("documents of %d: %v", revision, err)
		}
		var after *revisions.Stored
		if len(found.Documents) > 0 {
			after = found.Documents[0]
		}
		line := fmt.Sprintf("%%s: %s to %s ", dataOf(before), dataOf(after))
		switch {
		case before == nil && after == nil, before != nil && after != nil && before.ID == after.ID:
		case before == nil:
			lines = append(lines, fmt.Sprintf(line, "created")+by(after.Revision, after.Revision))
		case after == nil:
			lines = append(lines, fmt.Sprintf(line, "deleted")+by(revision, ends[before.Revision]))
		default:
			lines = append(lines, fmt.Sprintf(line, "modified")+by(after.Revision, after.Revision))
		}
		before = after
	}
	slices.Reverse(lines)
	return lines
}

// The history of a document agrees with the documents of all remaining revisions, whatever was pruned, also for users
// who may not see some of its versions.
func TestStore_Events(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := open(t, url)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	run := func(t failer, sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(context.Background(), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if err := s.Purge(context.Background(), revisions.Options{}); err != nil {
			t.Fatalf("purge: %v", err)
		}
		head := int64(rapid.IntRange(1, 12).Draw(t, "revisions"))
		ends := map[int64]int64{}
		last, since := -1, int64(0)
		for revision := int64(1); revision <= head; revision++ {
			body := widget("other", int(revision))
			x := rapid.IntRange(-1, 2).Draw(t, "x")
			if x >= 0 {
				body += widget("w", x)
			}
			if x != last {
				ends[since] = revision
				last, since = x, revision
			}
			reason := revisions.Reason{User: fmt.Sprintf("user %d", revision)}
			if _, err := s.Put(context.Background(), "a", []byte(body), document.YAML, revisions.Options{Reason: reason}); err != nil {
				t.Fatalf("PUT: %v", err)
			}
		}
		hidden := rapid.SliceOfDistinct(rapid.Int64Range(1, head), rapid.ID).Draw(t, "encrypted since")
		run(t, "UPDATE documents SET encrypted = true WHERE name = 'w' AND since = ANY($1)", hidden)
		var left []int64
		for revision := int64(1); revision < head; revision++ {
			if rapid.Bool().Draw(t, "left") {
				left = append(left, revision)
				run(t, "INSERT INTO tags VALUES ('default', $1, 'kept', '{}')", revision)
			}
		}
		left = append(left, head)
		if rapid.Bool().Draw(t, "swept") {
			if _, err := s.Prune(context.Background(), 1, revisions.Options{}); err != nil {
				t.Fatalf("prune: %v", err)
			}
		} else {
			run(t, "DELETE FROM revisions WHERE revision <> ALL($1)", left)
		}
		for _, viewer := range []authz.Viewer{{Encrypted: true}, {}} {
			view := s.For(viewer)
			want := expectedChanges(t, view, left, ends)
			got, more := changesOf(t, view, queries.Page{Limit: 100})
			if diff := cmp.Diff(want, got); diff != "" || more {
				t.Fatalf("history for %+v, more %v (-want +got):\n%s", viewer, more, diff)
			}
			var pages []string
			for next := len(want) > 0; next; {
				var page []string
				page, next = changesOf(t, view, queries.Page{Limit: 2, Offset: len(pages)})
				pages = append(pages, page...)
			}
			if diff := cmp.Diff(want, pages); diff != "" {
				t.Fatalf("history in pages for %+v (-want +got):\n%s", viewer, diff)
			}
		}
	})
}

// A page ends where its versions are large, as they are stored or as they are unpacked, but has at least two.
func TestStore_Events_large(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := open(t, url)
	kept := openStore(t, url, store.Options{Deadlines: store.DefaultDeadlines()})
	const versions, size = 5, 2000
	for x := range versions {
		body := strings.Replace(widget("w", x), "{x:", "{text: "+strings.Repeat("y", size)+", x:", 1)
		put(t, s, "a", body)
	}
	for _, c := range []struct {
		limit, bytes, want int
		cut                bool
	}{
		{versions, 0, 2, true},
		{versions, 500, 2, true},
		{versions, size, 2, true},     // as they are unpacked
		{versions, 4 * size, 3, true}, // with their metadata
		{versions, 2 * versions * size, versions, false},
		{3, 2 * versions * size, 3, false}, // there are more, but not for their size
		{2, 0, 2, false},
		{1, 0, 1, false},
	} {
		boundaries, cut, err := kept.Boundaries(t.Context(), queries.BoundaryQuery{
			Document: document.Identity{Schema: "acme/Widget/v1", Layer: "site", Name: "w"},
			Page:     queries.Page{Limit: c.limit}, MaxBytes: c.bytes,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(boundaries) != c.want || cut != c.cut {
			t.Errorf("limit %d, %d bytes: %d boundaries, cut %v; want %d, %v", c.limit, c.bytes, len(boundaries), cut, c.want, c.cut)
		}
		for i, e := range boundaries {
			if e.Revision != int64(versions-i) || !strings.HasPrefix(string(e.Version.Data), `{"text":"yyy`) {
				t.Errorf("event %d is of revision %d: %.20s", i, e.Revision, e.Version.Data)
			}
		}
	}
}
