package local

import (
	"context"
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
	const wish = ": install it (Debian: apt-get install postgresql) or name a server with --database-url"
	const looked = " or newer (looked for initdb and postgres in PATH, pg_config --bindir and /usr/lib/postgresql/*/bin"
	for name, test := range map[string]struct {
		found []installation
		major int
		want  installation
		err   string
	}{
		"the first that is new enough": {found: []installation{in12, in14, in16}, want: in14},
		"the version of the cluster":   {found: []installation{in12, in14, in16}, major: 16, want: in16},
		"none":                         {err: "no Postgres 14" + looked + ")" + wish},
		"none for a newer cluster": {major: 16, err: "/data was made by Postgres 16, but no Postgres is installed (looked for initdb and postgres in" +
			" PATH, pg_config --bindir and /usr/lib/postgresql/*/bin): install Postgres 16 (Debian: apt-get install" +
			" postgresql-16), or name a server with --database-url"},
		"only too old": {found: []installation{in12}, err: "no Postgres 14" + looked + ", found only 12)" + wish},
		"only other versions": {
			found: []installation{in14, in16, in14}, major: 15,
			err: "/data was made by Postgres 15, but only Postgres 14, 16 is installed: install Postgres 15" +
				" (Debian: apt-get install postgresql-15), pass another --state-dir, or name a server with --database-url",
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

func TestCluster_Start_versions(t *testing.T) {
	t.Parallel()
	none := quiet()
	none.search = func(context.Context) []installation { return nil }

	t.Run("nothing installed", func(t *testing.T) {
		t.Parallel()
		_, err := start(t.Context(), stateDir(t), none)
		if got := message(err); !strings.HasPrefix(got, "no Postgres 14 or newer") || strings.Contains(got, "\n") {
			t.Errorf("got error %q", got)
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
		_, err := start(t.Context(), dir, quiet())
		if got, want := message(err), fmt.Sprintf("%s/postgres was made by Postgres 9, but only", dir); !strings.HasPrefix(got, want) {
			t.Errorf("got error %q", got)
		}
	})

	t.Run("something else in its place", func(t *testing.T) {
		t.Parallel()
		dir := stateDir(t)
		if err := os.MkdirAll(filepath.Join(dir, "postgres"), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := start(t.Context(), dir, quiet())
		if got := message(err); !strings.Contains(got, "is not a Postgres cluster") {
			t.Errorf("got error %q", got)
		}
	})
}
