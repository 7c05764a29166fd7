package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPick(t *testing.T) {
	t.Parallel()
	in12, in14, in16 := installation{"/12", 12}, installation{"/14", 14}, installation{"/16", 16}
	const none = "there is no database: set PURSER_DATABASE_URL (--database-url) to a Postgres 14 or newer, such as" +
		" postgres://USER:PASSWORD@HOST/DATABASE, or install its server programs here (Debian: apt-get install postgresql)" +
		" and Purser runs a private one ("
	const looked = "looked for initdb and postgres in PATH, pg_config --bindir and the directories of packages, found versions "
	for name, test := range map[string]struct {
		found []installation
		major int
		want  installation
		err   string
	}{
		"the first that is new enough": {found: []installation{in12, in14, in16}, want: in14},
		"the version of the cluster":   {found: []installation{in12, in14, in16}, major: 16, want: in16},
		"none":                         {err: none + looked + "[])"},
		"only too old":                 {found: []installation{in12}, err: none + looked + "[12])"},
		"only other versions": {
			found: []installation{in16, in14, in16}, major: 15,
			err: "/data was made by Postgres 15, which is not installed (" + looked + "[14 16]): install it (Debian: apt-get" +
				" install postgresql-15), pass another --state-dir, or set PURSER_DATABASE_URL (--database-url) to use" +
				" another database",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := pick(test.found, test.major, "/data")
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(installation{})); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.err, message(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestSearch(t *testing.T) {
	t.Parallel()
	found := search(t.Context())
	if len(found) == 0 {
		t.Skip("no Postgres")
	}
	for _, in := range found {
		if in.major < 8 || !filepath.IsAbs(in.dir) {
			t.Errorf("found %+v", in)
		}
	}
}

// The script that installs Postgres for developers finds it in the same places as the server.
func TestPackageDirs(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../../../tools/need")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range packageDirs() {
		if !strings.Contains(string(script), " "+pattern) {
			t.Errorf("tools/need does not look in %s", pattern)
		}
	}
}

func TestAccountFor(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root runs Postgres as somebody else")
	}
	usual, err := accountFor("/nowhere/postgres")
	if err != nil || usual.uid == 0 {
		t.Fatalf("account of a new cluster: %v, %v", usual, err)
	}
	for name, test := range map[string]struct {
		state, data int // owners; -1: there is none
		want        account
	}{
		"a new state directory":     {-1, -1, usual},
		"a state directory of root": {0, -1, usual},
		"somebody's":                {4321, -1, account{4321, 4321}},
		"the cluster of another":    {4321, 4322, account{4322, 4322}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := filepath.Join(t.TempDir(), "state")
			data := filepath.Join(state, "postgres")
			for path, owner := range map[string]int{data: test.data, state: test.state} {
				if owner < 0 {
					continue
				}
				if err := errors.Join(os.MkdirAll(path, 0o700), os.Chown(path, owner, owner)); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := accountFor(data); err != nil || got != test.want {
				t.Errorf("got %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

func TestCluster_Start_versions(t *testing.T) {
	t.Parallel()
	t.Run("nothing installed", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(stateDir(t), "inner")
		_, err := start(t.Context(), dir, quiet(), nil)
		if got := message(err); !strings.HasPrefix(got, "there is no database: set PURSER_DATABASE_URL") {
			t.Errorf("got error %q", got)
		}
		if _, err := os.Lstat(filepath.Dir(dir)); err == nil {
			t.Error("the state directory is made before there is a Postgres")
		}
	})

	t.Run("a cluster of another version", func(t *testing.T) {
		t.Parallel()
		dir := stateDir(t)
		if err := os.MkdirAll(filepath.Join(dir, "postgres"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "postgres", "PG_VERSION"), []byte("9\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Start(t.Context(), dir, quiet())
		if got, want := message(err), fmt.Sprintf("%s/postgres was made by Postgres 9, which is not installed", dir); !strings.HasPrefix(got, want) {
			t.Errorf("got error %q", got)
		}
	})

	t.Run("something else in its place", func(t *testing.T) {
		t.Parallel()
		dir := stateDir(t)
		if err := os.MkdirAll(filepath.Join(dir, "postgres"), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := Start(t.Context(), dir, quiet())
		if got := message(err); !strings.Contains(got, "is not a Postgres cluster") {
			t.Errorf("got error %q", got)
		}
	})
}
