package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"purser/internal/files"
)

// minVersion is the oldest major version of Postgres that Purser supports.
const minVersion = 14

// packageDirs returns where packages install the server, outside of PATH, a directory for each version. tools/need
// looks there too.
func packageDirs() []string {
	return []string{
		"/usr/lib/postgresql/*/bin",         // Debian and its derivatives
		"/usr/libexec/postgresql*",          // Alpine
		"/usr/pgsql-*/bin",                  // Postgres's own packages for Fedora and its relatives
		"/opt/homebrew/opt/postgresql*/bin", // Homebrew on ARM
		"/usr/local/opt/postgresql*/bin",    // and on Intel
	}
}

// installation is a directory with the initdb and postgres of one major version.
type installation struct {
	dir   string
	major int
}

// search returns the installations of this machine: that in PATH, that of pg_config, then packages, the newest first.
func search(ctx context.Context) (found []installation) {
	var dirs []string
	for _, pattern := range packageDirs() {
		matches, _ := filepath.Glob(pattern) // fails for malformed patterns only
		slices.Reverse(matches)
		dirs = append(dirs, matches...)
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = slices.Insert(dirs, 0, strings.TrimSpace(string(out)))
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		dirs = slices.Insert(dirs, 0, filepath.Dir(path))
	}
	for _, dir := range dirs {
		//nolint:gosec // running the Postgres that was found is the purpose
		out, _ := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
		in := installation{dir: dir}
		_, err := fmt.Sscanf(string(out), "postgres (PostgreSQL) %d", &in.major)
		if _, missing := exec.LookPath(filepath.Join(dir, "initdb")); err == nil && missing == nil {
			found = append(found, in)
		}
	}
	return found
}

// pick chooses the installation for the cluster in data: one of the major version that made it, 0 if it is not made
// yet.
func pick(found []installation, major int, data string) (installation, error) {
	var versions []int
	for _, in := range found {
		if in.major == major || major == 0 && in.major >= minVersion {
			return in, nil
		}
		versions = append(versions, in.major)
	}
	slices.Sort(versions)
	looked := fmt.Sprintf("looked for initdb and postgres in PATH, pg_config --bindir and the directories of packages,"+
		" found versions %v", slices.Compact(versions))
	if major != 0 {
		return installation{}, fmt.Errorf("%s was made by Postgres %d, which is not installed (%s): install it (Debian:"+
			" apt-get install postgresql-%d), pass another --state-dir, or set PURSER_DATABASE_URL (--database-url) to use"+
			" another database", data, major, looked, major)
	}
	return installation{}, fmt.Errorf("there is no database: set PURSER_DATABASE_URL (--database-url) to a Postgres %d or"+
		" newer, such as postgres://USER:PASSWORD@HOST/DATABASE, or install its server programs here (Debian: apt-get"+
		" install postgresql) and Purser runs a private one (%s)", minVersion, looked)
}

// choose chooses the Postgres to run. It returns the version of the cluster, 0 if there is none yet.
func (c *Cluster) choose(found []installation) (major int, err error) {
	if major, err = c.major(); err != nil {
		return 0, err
	}
	c.bin, err = pick(found, major, c.data)
	return major, err
}

// prepare chooses the Postgres to run, and makes the cluster if there is none yet.
func (c *Cluster) prepare(ctx context.Context, found []installation) error {
	if major, err := c.choose(found); err != nil || major != 0 {
		return err
	}
	if err := c.initialise(ctx); err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	return nil
}

// major returns the version of the cluster, 0 if there is none yet.
func (c *Cluster) major() (major int, err error) {
	if _, err := os.Lstat(c.data); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	text, err := os.ReadFile(filepath.Join(c.data, "PG_VERSION"))
	if err == nil {
		_, err = fmt.Sscan(string(text), &major)
	}
	if err != nil {
		return 0, fmt.Errorf("%s is not a Postgres cluster: %w", c.data, err)
	}
	return major, nil
}

// initialise creates the cluster under a temporary name and renames it. Remains of interrupted calls are removed. Their
// initdb may still run, so a name is never reused.
func (c *Cluster) initialise(ctx context.Context) error {
	const prefix = "postgres.new"
	rest, _ := fs.Glob(os.DirFS(c.dir), prefix+"*") // fails for malformed patterns only
	for _, name := range rest {
		if err := os.RemoveAll(filepath.Join(c.dir, name)); err != nil {
			c.log.WarnContext(ctx, "remove an unfinished cluster", "error", err)
		}
	}
	partial := filepath.Join(c.dir, prefix+rand.Text())
	if err := c.user.mkdir(partial); err != nil {
		return err
	}
	if err := c.complete(ctx, "", "initdb", "--pgdata="+partial, "--username="+database, "--encoding=UTF8",
		"--locale=C", "--data-checksums", "--auth-local=trust", "--auth-host=reject"); err != nil {
		return err
	}
	if err := c.complete(ctx, "CREATE DATABASE "+database, "postgres", "--single", "-D", partial,
		"-c", "exit_on_error=on", "template1"); err != nil {
		return err
	}
	return errors.Join(os.Rename(partial, c.data), files.SyncDirectory(c.dir))
}

// complete runs one of Postgres's programs to its end. The error has its output.
func (c *Cluster) complete(ctx context.Context, input, name string, args ...string) error {
	cmd := c.command(ctx, name, args...)
	cmd.Stdin = strings.NewReader(input)
	// This also ends the postgres that initdb runs, which is in the same session.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w%s", cmd.Path, err, lastLines(out))
	}
	return nil
}
