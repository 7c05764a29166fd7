package local

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oldest is the first major version of Postgres that Purser supports.
const oldest = 14

// debian is where Debian and its children keep the server, outside of PATH and one directory for each version.
const debian = "/usr/lib/postgresql/*/bin"

// installation is a directory with the initdb and postgres of one major version.
type installation struct {
	dir   string
	major int
}

// search returns the installations of this machine, the one to prefer first.
func search(ctx context.Context) []installation {
	var found []installation
	if path, err := exec.LookPath("postgres"); err == nil {
		found = appendInstallation(ctx, found, filepath.Dir(path))
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		found = appendInstallation(ctx, found, strings.TrimSpace(string(out)))
	}
	var packaged []installation
	dirs, _ := filepath.Glob(debian) // the pattern is a constant and well formed
	for _, dir := range dirs {
		packaged = appendInstallation(ctx, packaged, dir)
	}
	slices.SortStableFunc(packaged, func(a, b installation) int { return cmp.Compare(b.major, a.major) })
	return append(found, packaged...)
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// appendInstallation adds dir if both programs are there and say their version.
func appendInstallation(ctx context.Context, found []installation, dir string) []installation {
	if _, err := exec.LookPath(filepath.Join(dir, "initdb")); err != nil {
		return found
	}
	//nolint:gosec // running the Postgres that was found is the purpose
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	match := versionLine.FindSubmatch(out)
	if err != nil || match == nil {
		return found
	}
	major, err := strconv.Atoi(string(match[1]))
	if err != nil {
		return found
	}
	return append(found, installation{dir: dir, major: major})
}

// pick chooses what runs the cluster in the directory data: the same major version as made it (0: there is none yet).
func pick(found []installation, major int, data string) (installation, error) {
	for _, in := range found {
		if in.major == major || major == 0 && in.major >= oldest {
			return in, nil
		}
	}
	if major != 0 && len(found) > 0 {
		return installation{}, fmt.Errorf("%s was made by Postgres %d, but only Postgres %s is installed:"+
			" install Postgres %d (Debian: apt-get install postgresql-%d), pass another --state-dir,"+
			" or name a server with --database-url",
			data, major, versions(found), major, major)
	}
	other := ""
	if len(found) > 0 {
		other = ", found only " + versions(found)
	}
	if major != 0 {
		return installation{}, fmt.Errorf("%s was made by Postgres %d, but no Postgres is installed (looked for initdb and"+
			" postgres in PATH, pg_config --bindir and %s): install Postgres %d (Debian: apt-get install postgresql-%d),"+
			" or name a server with --database-url", data, major, debian, major, major)
	}
	return installation{}, fmt.Errorf("no Postgres %d or newer (looked for initdb and postgres in PATH,"+
		" pg_config --bindir and %s%s): install it (Debian: apt-get install postgresql)"+
		" or name a server with --database-url", oldest, debian, other)
}

// versions lists the distinct major versions of found.
func versions(found []installation) string {
	var names []string
	for _, in := range found {
		if name := strconv.Itoa(in.major); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
