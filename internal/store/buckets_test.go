package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
)

// putFor is put with a user and a message.
func putFor(t *testing.T, s site, bucket, body, user, message string) {
	t.Helper()
	reason := revisions.Reason{User: user, Message: message}
	options := revisions.Options{Reason: reason}
	if _, err := s.Put(t.Context(), bucket, []byte(body), document.YAML, options); err != nil {
		t.Fatalf("PUT %s: %v", bucket, err)
	}
}

// encrypt makes all versions of a document encrypted ones, without a keyset.
func encrypt(t *testing.T, url, name string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), "UPDATE documents SET encrypted = true WHERE name = $1", name); err != nil {
		t.Fatal(err)
	}
}

// lastChange writes a change as "@revision user: message", and whether its time is known.
func lastChange(c queries.Change) string {
	if c.At.IsZero() {
		return fmt.Sprintf("@%d", c.Revision)
	}
	return fmt.Sprintf("@%d %s: %s", c.Revision, c.User, c.Message)
}

func TestStore_Buckets(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := open(t, url)
	putFor(t, s, "b", widget("w1", 1)+widget("w2", 1)+widget("pw", 1), "anna", "first")
	putFor(t, s, "a", widget("x", 1), "", "")
	putFor(t, s, "c", widget("pw2", 1), "ben", "second")
	putFor(t, s, "a", "", "anna", "no more")
	encrypt(t, url, "pw")
	encrypt(t, url, "pw2")
	s = open(t, url) // without documents in memory
	list := func(viewer authz.Viewer, page queries.Page) (lines []string, more bool) {
		t.Helper()
		buckets, more, err := s.For(viewer).Buckets(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range buckets {
			lines = append(lines, fmt.Sprintf("%s %d %s", b.Name, b.Documents, lastChange(b.Last)))
		}
		return lines, more
	}
	trusted, reader := authz.Viewer{Encrypted: true}, authz.Viewer{}
	a, b, c := "a 0 @4 anna: no more", "b 3 @1 anna: first", "c 1 @3 ben: second"
	for name, test := range map[string]struct {
		viewer authz.Viewer
		page   queries.Page
		want   []string
		more   bool
	}{
		"all":                 {trusted, queries.Page{Limit: 3}, []string{a, b, c}, false},
		"without secrets":     {reader, queries.Page{Limit: 3}, []string{a, "b 2 @1 anna: first", "c 0 @3 ben: second"}, false},
		"the first page":      {trusted, queries.Page{Limit: 2}, []string{a, b}, true},
		"the second page":     {trusted, queries.Page{Limit: 2, Offset: 2}, []string{c}, false},
		"no page":             {trusted, queries.Page{}, nil, true},
		"a page behind them":  {trusted, queries.Page{Limit: 2, Offset: 3}, nil, false},
		"cleartext, one of 3": {reader, queries.Page{Limit: 1, Offset: 1}, []string{"b 2 @1 anna: first"}, true},
	} {
		got, more := list(test.viewer, test.page)
		if diff := cmp.Diff(test.want, got); diff != "" || more != test.more {
			t.Errorf("%s: more = %v, want %v; buckets (-want +got):\n%s", name, more, test.more, diff)
		}
	}
	if _, err := s.Prune(t.Context(), 1, revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	pruned, _ := list(trusted, queries.Page{Limit: 3})
	if diff := cmp.Diff([]string{a, "b 3 @1", "c 1 @3"}, pruned); diff != "" {
		t.Errorf("buckets after a prune (-want +got):\n%s", diff)
	}
	if err := s.Purge(t.Context(), revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	if left, more := list(trusted, queries.Page{Limit: 3}); left != nil || more {
		t.Errorf("after a purge there are %v", left)
	}
}

// A server with the live documents in memory counts those of each bucket there, as another one counts them in the
// database.
func TestStore_Buckets_inMemory(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	writer, conn := open(t, url), storetest.Connect(t, url)
	put(t, writer, "a", widget("x", 1)+widget("y", 1))
	written := put(t, writer, "b", widget("z", 1))
	const encrypt = "UPDATE documents SET encrypted = true, metadata = replace(metadata, 'cleartext', 'encrypted') " +
		"WHERE name = 'x'"
	if _, err := conn.Exec(t.Context(), encrypt); err != nil {
		t.Fatal(err)
	}
	warm, cold, behind := openStore(t, url, defaults()), openStore(t, url, defaults()), openStore(t, url, defaults())
	for _, s := range []*store.Store{warm, behind} {
		if _, err := s.AllDocuments(t.Context(), written.Revision, written.Stamp); err != nil {
			t.Fatal(err)
		}
	}
	check := func(name string, s *store.Store, cleartext bool, want string) {
		t.Helper()
		buckets, err := s.Buckets(t.Context(), queries.Page{Limit: 9}, cleartext)
		if err != nil {
			t.Fatal(err)
		}
		var counts []string
		for _, b := range buckets {
			counts = append(counts, fmt.Sprintf("%s=%d", b.Name, b.Documents))
		}
		if got := strings.Join(counts, " "); got != want {
			t.Errorf("%s, without encrypted documents: %v: %s, want %s", name, cleartext, got, want)
		}
	}
	check("in the database", cold, false, "a=2 b=1")
	check("in the database", cold, true, "a=1 b=1")
	if _, err := conn.Exec(t.Context(), "UPDATE documents SET bucket = 'c'"); err != nil {
		t.Fatal(err)
	}
	check("in memory", warm, false, "a=2 b=1")
	check("in memory", warm, true, "a=1 b=1")
	put(t, writer, "c", widget("w", 1))
	check("in memory of an older revision", behind, false, "a=0 b=0 c=4")
	check("the other buckets were counted before", warm, false, "a=2 b=1 c=4")
	put(t, writer, "a", widget("v", 1))
	check("a bucket that was counted has changed", warm, false, "a=1 b=1 c=4")
}
