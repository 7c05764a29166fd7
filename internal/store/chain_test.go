package store_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/authz"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/secrets"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// openSealing is open with a vault, for secrets.
func openSealing(t *testing.T, url string) site {
	t.Helper()
	vault, err := secrets.Open(t.Context(), filepath.Join(t.TempDir(), "keyset.json"), secrets.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	kept, engine := openStore(t, url, defaults()), validations.NewEngine(validations.Options{})
	return site{
		changes.NewService(changes.Config{
			Site: revisions.DefaultSite, Store: kept, Engine: engine, Limits: document.DefaultLimits(), Vault: vault, Now: time.Now,
			Observe: func(string, time.Duration) {},
		}),
		queries.NewService(queries.Config{
			Store: kept, Renderer: changes.Renderer{Site: revisions.DefaultSite, Engine: engine, Vault: vault},
		}).For(authz.Viewer{Encrypted: true}),
	}
}

// secretWidget writes an encrypted document whose data is x.
func secretWidget(name string, x int) string {
	return strings.Replace(widget(name, x), "cleartext", "encrypted", 1)
}

// links says of each revision whether its chain value is that of what the database has: "intact", "broken", or the type
// of a fault; with the members that were not checked.
func links(t *testing.T, s site, last int64) (said []string) {
	t.Helper()
	for id := int64(1); id <= last; id++ {
		link, err := s.Link(t.Context(), id)
		text := "broken"
		switch problem, isFault := errors.AsType[*fault.Fault](err); {
		case isFault:
			text = problem.Type
		case err != nil:
			t.Fatalf("link %d: %v", id, err)
		case link.Intact():
			text = "intact"
		}
		said = append(said, strings.TrimSpace(fmt.Sprint(id, " ", text, " ", strings.Join(link.Unchecked, " "))))
	}
	return said
}

// allIntact is what links says of an unbroken chain.
func allIntact(last int) (said []string) {
	for id := range last {
		said = append(said, fmt.Sprint(id+1, " intact"))
	}
	return said
}

// makeHistory makes five revisions: with a secret, a change, a deletion, a move to another bucket and a rollback.
func makeHistory(t *testing.T, s site) {
	t.Helper()
	options := revisions.Options{Reason: revisions.Reason{User: "anna", Message: "first", Source: "https://git.example/a@" +
		"0123456789012345678901234567890123456789"}}
	if _, err := s.Put(t.Context(), "a", []byte(widget("p", 1)+widget("q", 1)+secretWidget("s", 1)), document.YAML,
		options); err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", widget("p", 2)+widget("q", 1)+secretWidget("s", 1))
	put(t, s, "a", widget("p", 2)+secretWidget("s", 2))
	put(t, s, "b", widget("r", 1))
	if _, err := s.Rollback(t.Context(), 2, revisions.Options{}); err != nil {
		t.Fatal(err)
	}
}

// Whatever is changed in the rows that the chain covers breaks it at the revisions that it was changed in.
func TestService_Link_tampered(t *testing.T) { //nolint:tparallel // its parts change the same rows
	t.Parallel()
	url := storetest.URL(t)
	conn, s := storetest.Connect(t, url), openSealing(t, url)
	makeHistory(t, s)
	if diff := cmp.Diff(allIntact(5), links(t, s, 5)); diff != "" {
		t.Fatalf("untouched (-want +got)\n%s", diff)
	}
	tables := []string{"revisions", "documents", "contents"}
	for _, table := range tables {
		storetest.Execute(t, conn, "CREATE TABLE saved_"+table+" AS TABLE "+table)
	}
	const (
		ofName    = "content = (SELECT d.content FROM saved_documents d WHERE d.name = '%s' ORDER BY id %s LIMIT 1)"
		ofContent = "digest = (SELECT d.content FROM saved_documents d WHERE d.name = '%s' ORDER BY id %s LIMIT 1)"
	)
	set := func(what string, revision int) string {
		return fmt.Sprintf("UPDATE revisions SET %s WHERE revision = %d", what, revision)
	}
	ofDocument := func(what, where string) string { return "UPDATE documents SET " + what + " WHERE " + where }
	for _, c := range []struct { //nolint:paralleltest // they change the same rows
		change string
		broken []int
	}{
		{set("created_at = created_at + interval '1 microsecond'", 3), []int{3}},
		{set("buckets = '{c}'", 3), []int{3}},
		{set("kind = 'changeset'", 3), []int{3}},
		{set("author = 'eve'", 1), []int{1}},
		{set("message = ''", 1), []int{1}},
		{set("source = ''", 1), []int{1}},
		{set("origin = 3", 5), []int{5}},
		{set("stamp = stamp + 1", 3), []int{3}},
		{set(`sources = '{"a": {"site": "x", "revision": 1, "stamp": "c000000000000000", "bucket": "a"}}'`, 2), []int{2}},
		{set("chain = sha256('x')", 2), []int{2, 3}},
		{ofDocument("metadata = replace(metadata, 'cleartext', 'cleartexts')", "name = 'q' AND since = 1"), []int{1, 3}},
		{ofDocument("schema = 'acme/Widget/v2'", "name = 'p' AND since = 2"), []int{2}},
		{ofDocument("layer = 'type'", "name = 'p' AND since = 2"), []int{2}},
		{ofDocument("name = 'z'", "name = 'p' AND since = 2"), []int{2}},
		{ofDocument("bucket = 'c'", "name = 'r'"), []int{4, 5}},
		{ofDocument("since = 2", "name = 'r'"), []int{2, 4}},
		{ofDocument("until = NULL, fork = NULL", "name = 'r'"), []int{5}},
		{ofDocument(fmt.Sprintf(ofName, "p", "ASC"), "name = 'p' AND since = 2"), []int{2}},
		{"DELETE FROM documents WHERE name = 'r'", []int{4, 5}},
		{"DELETE FROM contents WHERE " + fmt.Sprintf(ofContent, "p", "DESC"), []int{2}},
		{"UPDATE contents SET body = '{\"x\":3}' WHERE " + fmt.Sprintf(ofContent, "p", "DESC"), []int{2}},
		{"UPDATE contents SET body = 'x' WHERE " + fmt.Sprintf(ofContent, "p", "DESC"), []int{2}},
		{"UPDATE contents SET sealed = NULL WHERE sealed IS NOT NULL", []int{1, 2, 3, 5}},
		{"UPDATE contents SET sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) WHERE sealed IS NOT NULL", []int{1, 2, 3, 5}},
		// Another secret of the same document, which opens.
		{
			"UPDATE contents SET sealed = (SELECT c.sealed FROM saved_contents c WHERE " +
				fmt.Sprintf("c."+ofContent, "s", "ASC") + ") WHERE sealed IS NOT NULL", []int{3},
		},
	} {
		t.Run(c.change, func(t *testing.T) {
			tamper(t, conn, c.change)
			want := allIntact(5)
			for _, id := range c.broken {
				want[id-1] = fmt.Sprint(id, " broken")
			}
			if diff := cmp.Diff(want, links(t, s, 5)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, table := range tables {
				tamper(t, conn, "DELETE FROM "+table)
				tamper(t, conn, "INSERT INTO "+table+" OVERRIDING SYSTEM VALUE TABLE saved_"+table)
			}
		})
	}
}

// tamper executes a statement without checks of foreign keys.
func tamper(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	storetest.Execute(t, conn, "SET session_replication_role = replica; "+sql+"; RESET session_replication_role")
}

// A chain value is one digest, whichever server makes it, and depends on nothing else than what docs/proof.md says.
func TestService_Link(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	conn, s := storetest.Connect(t, url), openSealing(t, url)
	makeHistory(t, s)
	link, err := s.Link(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(text string) string { return document.Digest(sha256.Sum256([]byte(text))).String() }
	const metadata = `{"layeringDefinition":{"abstract":false,"layer":"site"},"name":"r","replacement":false,` +
		`"schema":"metadata/Document/v1","storagePolicy":"cleartext"}`
	added := sum(fmt.Sprintf("[%q,%q,%q,%q,%q,%q]\n", "acme/Widget/v1", "site", "r", "b", sum(metadata), sum(`{"x":1}`)))
	before, err := s.Show(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"added":%q,"buckets":["b"],"createdAt":%q,"kind":"put","message":null,"previous":%q,"removed":%q,`+
		`"revision":4,"rolledBackTo":null,"source":null,"sources":{},"stamp":%q,"user":null}`, added,
		link.Revision.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000Z"), before.Chain, sum(""), link.Revision.Stamp)
	if diff := cmp.Diff(want, string(link.Of)); diff != "" {
		t.Errorf("text (-want +got)\n%s", diff)
	}
	if got := link.Revision.Chain.String(); got != sum(want) {
		t.Errorf("the chain value is %s, want %s", got, sum(want))
	}
	if _, err := s.For(authz.Viewer{}).Link(t.Context(), 4); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("without the right to encrypted documents: %v", err)
	}
	if got, want := links(t, s, 6)[5], "6 HTTPNotFound"; !strings.HasPrefix(got, "6 ") || strings.Contains(got, "intact") {
		t.Errorf("a revision too many: %q, want %q", got, want)
	}

	// Older revisions are deleted: what they had is not checked.
	if _, err := s.Prune(t.Context(), 2, revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"4 intact previous removed", "5 intact"}, links(t, s, 5)[3:]); diff != "" {
		t.Errorf("after a prune (-want +got)\n%s", diff)
	}
	tamper(t, conn, "UPDATE contents SET body = '{\"x\":3}' WHERE digest = (SELECT content FROM documents WHERE name = 'r')")
	if got := links(t, s, 5)[3]; got != "4 broken previous removed" {
		t.Errorf("a change after a prune: %s", got)
	}

	// A purge starts another chain.
	if err := s.Purge(t.Context(), revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", widget("p", 1))
	if link, err := s.Link(t.Context(), 1); err != nil || !link.Intact() || !strings.Contains(string(link.Of), `"previous":null`) {
		t.Errorf("after a purge: %s, %v", link.Of, err)
	}
}

// The first revision after revisions of earlier versions starts the chain with all documents before it.
func TestService_Link_upgraded(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	conn, s := storetest.Connect(t, url), openSealing(t, url)
	makeHistory(t, s)
	storetest.Execute(t, conn, "UPDATE revisions SET chain = NULL, chain_previous = NULL, chain_removed = NULL")
	for i, name := range []string{"t", "u", "v"} {
		put(t, s, name, widget(name, i))
	}
	want := []string{"1 RevisionWithoutChain", "2 RevisionWithoutChain", "3 RevisionWithoutChain", "4 RevisionWithoutChain", "5 RevisionWithoutChain", "6 intact", "7 intact", "8 intact"}
	if diff := cmp.Diff(want, links(t, s, 8)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	tamper(t, conn, "UPDATE documents SET bucket = 'c' WHERE name = 'q' AND until IS NULL")
	if got := links(t, s, 8)[5:]; !slices.Equal(got, []string{"6 broken", "7 intact", "8 intact"}) {
		t.Errorf("a document of before was changed: %q", got)
	}
}
