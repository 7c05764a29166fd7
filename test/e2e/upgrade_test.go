package e2e_test

import (
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/store/storetest"
	"purser/migrations"
)

var record = flag.Bool("record", false, "write what the site of the upgrade tests is in today's version of the schema")

// oldSite is the site in the databases of testdata/upgrade: the bodies and buckets of its PUTs, one per revision. The
// first widget of revision 1 violates the schema.
func oldSite() []struct{ bucket, body string } {
	return []struct{ bucket, body string }{
		{"mop", sizes() + layeringPolicy("lp") + widget("w1", "{size: 1000}") + widget("w2", "{size: 2}")},
		{"site", inLayer("site", docWith("acme/Gadget/v1", "g", "{x: 1}", labelled("a: b")))},
		{"mop", sizes() + layeringPolicy("lp") + widget("w2", "{size: 3}")},
		{"site", ""},
		{"site", inLayer("site", docWith("acme/Gadget/v1", "g", "{x: 1}", labelled("a: b")))},
	}
}

// oldDocuments are the documents of oldSite's revisions, without those that never change.
var oldDocuments = [][]string{
	{"mop/w1@1 map[size:1000]", "mop/w2@1 map[size:2]"},
	{"mop/w1@1 map[size:1000]", "mop/w2@1 map[size:2]", "site/g@2 map[x:1]"},
	{"mop/w2@3 map[size:3]", "site/g@2 map[x:1]"},
	{"mop/w2@3 map[size:3]"},
	{"mop/w2@3 map[size:3]", "site/g@5 map[x:1]"},
}

// A server upgrades a database of any earlier version, and preserves everything in it.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for version := 1; version <= newestVersion(t); version++ {
		t.Run(fmt.Sprintf("from version %d", version), func(t *testing.T) {
			t.Parallel()
			if *record && version == newestVersion(t) {
				recordSite(t, version)
			}
			s := startOn(t, oldDatabase(t, version))
			s.hasOldSite(t)
			s.isDefault(t, version)
			s.put(t, "site", oldSite()[4].body).isNames(t, "g@5")
			s.put(t, "site", widget("new", "{size: 1}")).isNames(t, "new@6")
			s.send(t, request{method: http.MethodPost, path: "rollback/2"}).is(t, http.StatusCreated)
			s.isOldRevision(t, 7, "mop/w1@7 map[size:1000]", "mop/w2@7 map[size:2]", "site/g@7 map[x:1]")
		})
	}
}

// newestVersion returns the number of migrations.
func newestVersion(t *testing.T) int {
	t.Helper()
	files, err := fs.Glob(migrations.FS, "*.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// hasOldSite checks all revisions of oldSite, and the results that were posted for the first one.
func (s *server) hasOldSite(t *testing.T) {
	t.Helper()
	for i, documents := range oldDocuments {
		s.isOldRevision(t, i+1, documents...)
	}
	var status []any
	for _, item := range s.get(t, "revisions").results(t) {
		revision, _ := item.(map[string]any)
		status = append(status, revision["status"])
		if source := revision["source"]; source != nil {
			t.Errorf("revision %v has the source %v, which no earlier version kept", revision["id"], source)
		}
	}
	if diff := cmp.Diff([]any{"failure", "failure", "success", "success", "success"}, status); diff != "" {
		t.Errorf("status of the revisions (-want +got):\n%s", diff)
	}
	got := map[any]any{}
	for _, item := range s.get(t, "revisions/1/validations").results(t) {
		validation, _ := item.(map[string]any)
		got[validation["name"]] = validation["status"]
	}
	if diff := cmp.Diff(map[any]any{own: "failure", "a-validation": "success"}, got); diff != "" {
		t.Errorf("validations of revision 1 (-want +got):\n%s", diff)
	}
}

// isDefault checks that all there is belongs to the default site, which is as old as its first revision
// where an earlier version did not note when it was made.
func (s *server) isDefault(t *testing.T, version int) {
	t.Helper()
	conn := storetest.Connect(t, s.database)
	for _, table := range texts(t, conn, `SELECT c.table_name::text FROM information_schema.columns c JOIN information_schema.tables t
		USING (table_schema, table_name) WHERE table_schema = 'public' AND column_name = 'site' AND table_type = 'BASE TABLE'`) {
		if others := texts(t, conn, "SELECT DISTINCT site FROM "+table+" WHERE site <> 'default'"); len(others) > 0 {
			t.Errorf("the table %s has the sites %v", table, others)
		}
	}
	all := s.get(t, "/sites").results(t)
	if len(all) != 1 {
		t.Fatalf("the sites: %v", all)
	}
	eventually(t, "the verdict on the newest revision is told", func() bool {
		return s.get(t, "/sites/default").mapping(t)["status"] == "success"
	})
	got := s.get(t, "/sites/default").mapping(t)
	first := s.get(t, "revisions/1").mapping(t)
	const notes = 22
	if version >= notes && fmt.Sprint(got["createdAt"]) < fmt.Sprint(first["createdAt"]) {
		first["createdAt"] = got["createdAt"]
	}
	want := []any{"default", 5, first["createdAt"], false}
	if diff := cmp.Diff(want, []any{got["name"], got["revision"], got["createdAt"], got["archived"]}); diff != "" {
		t.Errorf("the site (-want +got):\n%s", diff)
	}
	if told := texts(t, conn, "SELECT status FROM feeds"); len(told) != 1 || told[0] != "success" {
		t.Errorf("the verdict on the newest revision is %q", told)
	}
}

// isOldRevision checks the widgets and gadgets of a revision.
func (s *server) isOldRevision(t *testing.T, revision int, want ...string) {
	t.Helper()
	var got []string
	path := fmt.Sprintf("revisions/%d/documents?schema=acme/Widget/v1&schema=acme/Gadget/v1", revision)
	for _, document := range s.get(t, path).is(t, http.StatusOK).documents(t) {
		metadata, _ := document["metadata"].(map[string]any)
		status, _ := document["status"].(map[string]any)
		got = append(got, fmt.Sprintf("%v/%v@%v %v", status["bucket"], metadata["name"], status["revision"], document["data"]))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("revision %d (-want +got):\n%s", revision, diff)
	}
}
