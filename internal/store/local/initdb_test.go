package local

import (
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
	const looked = ": looked for initdb and postgres in PATH, pg_config --bindir and /usr/lib/postgresql/*/bin, found versions "
	const or = " or name a server with --database-url"
	for name, test := range map[string]struct {
		found []installation
		major int
		want  installation
		err   string
	}{
		"the first that is new enough": {found: []installation{in12, in14, in16}, want: in14},
		"the version of the cluster":   {found: []installation{in12, in14, in16}, major: 16, want: in16},
		"none": {
			err: "no Postgres 14 or newer is installed" + looked + "[]; install it (Debian: apt-get install postgresql)" + or,
		},
		"only too old": {
			found: []installation{in12},
			err:   "no Postgres 14 or newer is installed" + looked + "[12]; install it (Debian: apt-get install postgresql)" + or,
		},
		"only other versions": {
			found: []installation{in16, in14, in16}, major: 15,
			err: "/data was made by Postgres 15, which is not installed" + looked + "[14 16]; install it (Debian: apt-get" +
				" install postgresql-15), pass another --state-dir," + or,
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
	t.Run("nothing installed", func(t *testing.T) {
		t.Parallel()
		_, err := start(t.Context(), stateDir(t), quiet(), nil)
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
