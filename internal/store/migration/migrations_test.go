package migration_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/store/migration"
	"purser/internal/store/storetest"
	"purser/migrations"
)

var record = flag.Bool("record", false, "write the schemas of migrations/schema")

// Each file of migrations leaves the schema that is in migrations/schema; make schema writes it.
func TestSchema_ofVersions(t *testing.T) {
	t.Parallel()
	conn := storetest.Connect(t, storetest.Empty(t))
	var previous []string
	for i, file := range migrationFiles(t) {
		storetest.Execute(t, conn, file)
		got := schema(t, conn)
		path := filepath.Join("../../../migrations", migrations.SchemaFile(i+1))
		if *record {
			if err := os.WriteFile(path, []byte(strings.Join(got, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("make schema writes it: %v", err)
		}
		if diff := cmp.Diff(strings.Split(strings.TrimSpace(string(want)), "\n"), got); diff != "" {
			t.Errorf("schema of version %d (-want +got); make schema writes it:\n%s", i+1, diff)
		}
		if slices.Equal(previous, got) {
			t.Errorf("version %d has the schema of the one before: nobody could tell whether its file was run", i+1)
		}
		previous = got
	}
}

// migrationFiles returns the text of all migrations, in order.
func migrationFiles(t *testing.T) []string {
	t.Helper()
	names, err := fs.Glob(migrations.FS, "*.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, name := range names {
		text, err := migrations.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, string(text))
	}
	return files
}

func schema(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	lines, err := migration.Schema(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// A server refuses a database with relevant changes of the schema, and lists the changes to undo.
func TestMigrate_changedSchema(t *testing.T) {
	t.Parallel()
	for edit, want := range map[string]string{
		"DROP TABLE tags":                         "schema, but was changed since: table tags is missing; undo",
		"ALTER TABLE results DROP COLUMN message": "column results.message (text) is missing",
		"ALTER TABLE sites ALTER COLUMN head TYPE integer": "column sites.head is (integer not null) instead of" +
			" (bigint not null)",
		"ALTER TABLE contents ALTER COLUMN body DROP NOT NULL": "column contents.body is (bytea) instead of (bytea not null)",
		"ALTER TABLE tags ALTER COLUMN tag TYPE text": `column tags.tag is (text not null) instead of` +
			` (text collate "C" not null)`,
		"ALTER TABLE revisions ALTER COLUMN kind DROP DEFAULT": "column revisions.kind is (text not null) instead of" +
			" (text not null default 'put'::text)",
		"ALTER TABLE audit ALTER COLUMN id DROP IDENTITY": "column audit.id is (bigint not null) instead of" +
			" (bigint not null generated always)",
		"ALTER TABLE checks DROP CONSTRAINT checks_pkey": "constraint checks.checks_pkey (PRIMARY KEY (site, pair)) is" +
			" missing",
		"ALTER TABLE tags DROP CONSTRAINT tags_site_revision_fkey": "constraint tags.tags_site_revision_fkey" +
			" (FOREIGN KEY (site, revision) REFERENCES revisions(site, revision)) is missing",
		"DROP INDEX documents_name": "index documents.documents_name (CREATE INDEX documents_name ON documents USING btree" +
			" (site, name, fork)) is missing",
		"UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'tags_tag'::regclass": "index tags.tags_tag (CREATE",
		"ALTER TABLE sites ADD CHECK (live < 10)":                                        "constraint sites.sites_live_check (CHECK ((live < 10))) is not Purser's",
		"ALTER TABLE sites ADD COLUMN extra text":                                        "",
		"ALTER TABLE sites ADD COLUMN extra text NOT NULL DEFAULT 'x'":                   "",
		"TRUNCATE sites CASCADE; ALTER TABLE sites ADD COLUMN extra text NOT NULL":       "column sites.extra (text not null) is not Purser's",
		"CREATE INDEX extra ON audit (at)":                                               "",
		"CREATE UNIQUE INDEX extra ON audit (at)": "index audit.extra (CREATE UNIQUE INDEX extra ON audit USING btree (at))" +
			" is not Purser's",
		"CREATE TABLE extra (id int PRIMARY KEY)": "",
	} {
		t.Run(edit, func(t *testing.T) {
			t.Parallel()
			url := storetest.URL(t)
			conn := storetest.Connect(t, url)
			storetest.Execute(t, conn, edit)
			err := migration.Migrate(t.Context(), url)
			if want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantFault(t, err, want)
		})
	}
}

// The tables may be in any schema that comes first in the search path.
func TestMigrate_otherSchema(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	conn := storetest.Connect(t, url)
	storetest.Execute(t, conn, `CREATE SCHEMA "Other one"; DROP INDEX public.tags_tag`)
	other := storetest.Separated(url) + "search_path=%22Other%20one%22,public"
	for range 2 {
		if err := migration.Migrate(t.Context(), other); err != nil {
			t.Fatal(err)
		}
	}
	isVersion(t, storetest.Connect(t, other), len(migrationFiles(t)))
	wantFault(t, migration.Migrate(t.Context(), url), "index tags.tags_tag")
}
