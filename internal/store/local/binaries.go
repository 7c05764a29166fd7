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

// minVersion is the oldest major version of Postgres that Purser supports.
const minVersion = 14

// debianDirs is where Debian and its derivatives install the server, outside of PATH, a directory for each version.
const debianDirs = "/usr/lib/postgresql/*/bin"

// installation is a directory with the initdb and postgres of one major version.
type installation struct {
	dir   string
	major int
}

// search returns the installations of this machine: that in PATH, that of pg_config, then packages, the newest first.
func search(ctx context.Context) []installation {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	packaged, _ := filepath.Glob(debianDirs) // fails for malformed patterns only
	newest := probe(ctx, packaged)
	slices.SortStableFunc(newest, func(a, b installation) int { return cmp.Compare(b.major, a.major) })
	return append(probe(ctx, dirs), newest...)
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// probe returns the installations in those directories that have both programs.
func probe(ctx context.Context, dirs []string) (found []installation) {
	for _, dir := range dirs {
		//nolint:gosec // running the Postgres that was found is the purpose
		out, _ := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
		_, err := exec.LookPath(filepath.Join(dir, "initdb"))
		if match := versionLine.FindSubmatch(out); match != nil && err == nil {
			major, _ := strconv.Atoi(string(match[1])) // digits
			found = append(found, installation{dir: dir, major: major})
		}
	}
	return found
}

// pick chooses the installation for the cluster in data: one of the major version that made it, 0 if it is not made
// yet.
func pick(found []installation, major int, data string) (installation, error) {
	for _, in := range found {
		if in.major == major || major == 0 && in.major >= minVersion {
			return in, nil
		}
	}
	const places = "looked for initdb and postgres in PATH, pg_config --bindir and " + debianDirs
	install := fmt.Sprintf("install Postgres %d (Debian: apt-get install postgresql-%d)", major, major)
	switch {
	case major != 0 && len(found) > 0:
		return installation{}, fmt.Errorf("%s was made by Postgres %d, but only Postgres %s is installed: %s,"+
			" pass another --state-dir, or name a server with --database-url", data, major, versions(found), install)
	case major != 0:
		return installation{}, fmt.Errorf("%s was made by Postgres %d, but no Postgres is installed (%s): %s,"+
			" or name a server with --database-url", data, major, places, install)
	}
	tooOld := ""
	if len(found) > 0 {
		tooOld = ", found only " + versions(found)
	}
	return installation{}, fmt.Errorf("no Postgres %d or newer (%s%s): install it (Debian: apt-get install postgresql)"+
		" or name a server with --database-url", minVersion, places, tooOld)
}

// versions lists the major versions of installations, each once.
func versions(found []installation) string {
	var names []string
	for _, in := range found {
		if name := strconv.Itoa(in.major); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
