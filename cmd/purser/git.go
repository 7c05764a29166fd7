package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"purser/cmd/purser/internal/folder"
	"purser/internal/check"
	"purser/internal/words"
)

// clone is a folder of a Git repository, with or without a working tree.
type clone string

// commit is a commit of a clone.
type commit struct {
	id      string
	message string // its subject, its author and its short id
	source  string // its URL at the remote origin; "" if that has none
}

// errNoGit says how to get the program that reads clones.
var errNoGit = errors.New("--from-git needs the program git, which is not in PATH; install it, for instance with " +
	"apt-get install git, dnf install git or brew install git")

// git returns a command of git that reads the clone, whatever repository the environment names, as that of a hook does.
// It takes objects as they are stored, without replacements, and never asks for a password.
func (c clone) git(ctx context.Context, args ...string) *exec.Cmd {
	const utf8, unsigned = "i18n.logOutputEncoding=UTF-8", "log.showSignature=false"
	args = append([]string{"-C", string(c), "--no-replace-objects", "-c", utf8, "-c", unsigned}, args...)
	cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // the clone is the user's
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{
			"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE",
		}, name)
	})
	cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0")
	cmd.Stderr = &bytes.Buffer{}
	return cmd
}

// output runs a command of git and returns what it prints.
func (c clone) output(ctx context.Context, args ...string) (string, error) {
	cmd := c.git(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := c.failed(ctx, cmd, cmd.Run())
	return out.String(), err
}

// failed returns the error of a command of git, with what git says about it.
func (c clone) failed(ctx context.Context, cmd *exec.Cmd, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound):
		return errNoGit
	case ctx.Err() != nil:
		return fmt.Errorf("read the clone: %w", ctx.Err())
	}
	if said, ok := cmd.Stderr.(*bytes.Buffer); ok && said.Len() > 0 {
		text := strings.TrimPrefix(strings.TrimSpace(said.String()), "fatal: ")
		return fmt.Errorf("git cannot read %s: %s", c, words.Printable(text))
	}
	return fmt.Errorf("git cannot read %s: %w", c, err)
}

// commit returns the commit that a branch, a tag or an id names.
func (c clone) commit(ctx context.Context, ref string) (commit, error) {
	if strings.HasPrefix(ref, "-") {
		return commit{}, fmt.Errorf("--ref must name a branch, a tag or a commit, not %s", ref)
	}
	if _, err := c.output(ctx, "rev-parse", "--git-dir"); err != nil {
		return commit{}, err
	}
	id, err := c.output(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	switch exit, failed := errors.AsType[*exec.ExitError](err); {
	case failed && exit.ExitCode() == 1:
		return commit{}, fmt.Errorf("%s has no commit %s: git fetch gets those of its remote, and --ref origin/%[2]s "+
			"names a branch there", c, ref)
	case err != nil:
		return commit{}, err
	}
	id = strings.TrimSpace(id)
	about, err := c.output(ctx, "log", "-1", "--format=%s%x00%an%x00%h", id)
	if err != nil {
		return commit{}, err
	}
	parts := strings.SplitN(strings.TrimSuffix(about, "\n"), "\x00", 3)
	if len(parts) < 3 {
		return commit{}, fmt.Errorf("git cannot read commit %s of %s", id, c)
	}
	remote, _ := c.output(ctx, "config", "--get", "remote.origin.url") // it fails if there is none
	return commit{id, commitMessage(parts[0], parts[1], parts[2]), commitURL(strings.TrimSpace(remote), id)}, nil
}

// commitMessage returns the message of a change from the subject, the author and the short id of a commit. It is cut to
// what a revision keeps.
func commitMessage(subject, author, id string) string {
	const most, mostAuthor = 1000, 200
	cut := func(text string, most int) string {
		runes := []rune(strings.ToValidUTF8(text, "\ufffd"))
		if len(runes) <= most {
			return string(runes)
		}
		return string(runes[:most-1]) + "…"
	}
	end := " (" + cut(author, mostAuthor) + ", " + id + ")"
	return cut(subject, most-len([]rune(end))) + end
}

// scpLike matches a remote as scp writes it, such as git@host:path: the host and the path.
var scpLike = regexp.MustCompile(`^(?:[^@/\\:]*@)?([^@/\\:]{2,}):(/?[^/:].*)$`)

// commitURL returns the URL of a commit of the repository that a remote names: its page at most services. It is empty
// if the remote is not at a host, or if its URL is not one that a revision keeps.
func commitURL(remote, id string) string {
	var host, below string
	if at, err := url.Parse(remote); err == nil && at.Scheme == "https" {
		host, below = at.Host, at.Path
	} else if err == nil && at.Scheme == "ssh" {
		host, below = strings.TrimSuffix(at.Host, ":"+at.Port()), at.Path // the port is not that of the pages
	} else if parts := scpLike.FindStringSubmatch(remote); parts != nil {
		host, below = parts[1], parts[2]
	}
	repository := strings.TrimSuffix(strings.Trim(below, "/"), ".git")
	if host == "" || repository == "" {
		return ""
	}
	page := url.URL{Scheme: "https", Host: host, Path: "/" + repository + "/commit/" + id}
	return checkedSource(page.String())
}

// treeEntry is a file of a commit.
type treeEntry struct {
	mode, id, path string

	read bool // as a file of documents
	led  bool // it may be read as a configuration, or where a link leads
}

// The modes that git gives to symbolic links and to submodules.
const linkMode, submoduleMode = "120000", "160000"

// isAt reports whether an entry is one of the paths, or in one of them.
func (e treeEntry) isAt(paths []string) bool {
	return slices.ContainsFunc(paths, func(at string) bool {
		return at == "." || e.path == at || strings.HasPrefix(e.path, at+"/")
	})
}

// isHidden reports whether an entry is passed over in folders, as by check.Reader.
func (e treeEntry) isHidden() bool {
	return strings.HasPrefix(e.path, ".") || strings.Contains(e.path, "/.")
}

// entries lists the files of a commit.
func (c clone) entries(ctx context.Context, id string) (entries []treeEntry, err error) {
	listed, err := c.output(ctx, "ls-tree", "-r", "-z", "--full-tree", id)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(about) // the mode, the type and the id
		switch {
		case line == "":
			continue
		case len(fields) != 3 || !filepath.IsLocal(filepath.FromSlash(name)):
			return nil, fmt.Errorf("commit %s has a file that cannot be written: %s", id, words.Line(name))
		}
		entries = append(entries, treeEntry{mode: fields[0], id: fields[2], path: name})
	}
	return entries, nil
}

// unpack writes the documents of a commit that are at the paths below a folder, byte by byte as the commit has them:
// no attribute or setting of git changes them, as they may change those of a working tree. Folders are made even if
// they have no documents: one of a change set is a bucket.
func (c clone) unpack(ctx context.Context, of commit, paths []string, dir string) error {
	entries, err := c.entries(ctx, of.id)
	if err == nil {
		entries, err = wanted(of, entries, paths)
	}
	if err != nil {
		return err
	}
	var files, links []treeEntry
	for _, e := range entries {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(path.Dir(e.path))), 0o700); err != nil {
			return fmt.Errorf("unpack the commit: %w", err)
		}
		switch {
		case e.mode == linkMode:
			links = append(links, e)
		case e.read || e.led:
			files = append(files, e)
		}
	}
	err = c.blobs(ctx, files, func(e treeEntry, text *bufio.Reader, size int64) error {
		if begin, _ := text.Peek(int(min(size, int64(len(pointerOfLFS))))); e.read && string(begin) == pointerOfLFS {
			return fmt.Errorf("%s: the commit has only a pointer to it, of Git LFS; push a checkout, which has the file", e.path)
		}
		return create(filepath.Join(dir, filepath.FromSlash(e.path)), io.LimitReader(text, size))
	})
	if err != nil {
		return err
	}
	return c.link(ctx, links, paths, dir)
}

// pointerOfLFS is how a file begins that Git LFS keeps elsewhere.
const pointerOfLFS = "version https://git-lfs.github.com/spec/"

// wanted returns those of the files of a commit that are unpacked, or whose folders are: those at the paths and the
// configuration of the root; if there are links at the paths, all files, because these may lead to any.
func wanted(of commit, entries []treeEntry, paths []string) (all []treeEntry, err error) {
	if err := checkPaths(of, entries, paths); err != nil {
		return nil, err
	}
	linked := slices.ContainsFunc(entries, func(e treeEntry) bool { return e.mode == linkMode && e.isAt(paths) })
	for _, e := range entries {
		asked := e.isAt(paths)
		if e.mode == submoduleMode {
			if asked && !e.isHidden() {
				return nil, fmt.Errorf("%s is a submodule, so commit %s does not have its documents: name the paths beside it, "+
					"or push it --from-git of its own clone", e.path, of.id)
			}
			continue
		}
		e.read = asked && check.IsDocumentFile(e.path) && !e.isHidden() || slices.Contains(paths, e.path)
		e.led = linked || path.Base(e.path) == check.ConfigName
		if asked || linked || e.path == check.ConfigName {
			all = append(all, e)
		}
	}
	return all, nil
}

// checkPaths returns an error if a commit has nothing at one of the paths.
func checkPaths(of commit, entries []treeEntry, paths []string) error {
	for _, at := range paths {
		if !slices.ContainsFunc(entries, func(e treeEntry) bool { return e.isAt([]string{at}) }) {
			if at == "." {
				return fmt.Errorf("commit %s has no files", of.id)
			}
			return fmt.Errorf("commit %s has no %s; paths are relative to the root of the repository", of.id, at)
		}
	}
	return nil
}

// create writes a file that must not exist yet, also not as a link, which might lead elsewhere.
func create(path string, text io.Reader) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // it is in a private folder
	if err == nil {
		_, err = io.Copy(file, text)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Errorf("unpack the commit: %w", err)
	}
	return nil
}

// link writes the links of a commit, when all files are written. One that leads out of the repository is refused at the
// paths, and left out elsewhere: it would lead to documents that the commit does not have.
func (c clone) link(ctx context.Context, links []treeEntry, paths []string, dir string) error {
	err := c.blobs(ctx, links, func(e treeEntry, text *bufio.Reader, size int64) error {
		target := make([]byte, size)
		if _, err := io.ReadFull(text, target); err != nil {
			return fmt.Errorf("read the link %s: %w", e.path, err)
		}
		if err := os.Symlink(string(target), filepath.Join(dir, filepath.FromSlash(e.path))); err != nil {
			return fmt.Errorf("unpack the link %s: %w", e.path, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, e := range links {
		at := filepath.Join(dir, filepath.FromSlash(e.path))
		target, err := filepath.EvalSymlinks(at)
		below, _ := filepath.Rel(dir, target)
		switch {
		case err == nil && filepath.IsLocal(below), err != nil && check.IsDocumentFile(e.path) && !e.isHidden():
			continue // of a document that leads nowhere, check.Reader says so
		case err == nil && e.isAt(paths) && !e.isHidden():
			return fmt.Errorf("%s is a link that leads out of the repository, where the commit has no documents", e.path)
		}
		if err := os.Remove(at); err != nil {
			return fmt.Errorf("unpack the link %s: %w", e.path, err)
		}
	}
	return nil
}

// blobs calls do for the contents of entries, which do reads to their end.
func (c clone) blobs(ctx context.Context, entries []treeEntry,
	do func(e treeEntry, text *bufio.Reader, size int64) error,
) error {
	if len(entries) == 0 {
		return nil
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	var ids strings.Builder
	for _, e := range entries {
		ids.WriteString(e.id + "\n")
	}
	cmd := c.git(running, "cat-file", "--batch")
	cmd.Stdin = strings.NewReader(ids.String())
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return c.failed(ctx, cmd, err)
	}
	if err := readBlobs(bufio.NewReader(out), entries, do); err != nil {
		stop()
		_ = cmd.Wait() // it was stopped
		return err
	}
	return c.failed(ctx, cmd, cmd.Wait())
}

// readBlobs calls do for the contents of entries, as git cat-file --batch writes them.
func readBlobs(r *bufio.Reader, entries []treeEntry, do func(e treeEntry, text *bufio.Reader, size int64) error) error {
	for _, e := range entries {
		header, err := r.ReadString('\n')
		fields := strings.Fields(header) // the id, the type and the size
		if err != nil || len(fields) != 3 {
			return fmt.Errorf("the clone does not have the contents of %s: %s", e.path, cmp.Or(strings.TrimSpace(header),
				"git cat-file ended early"))
		}
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return fmt.Errorf("read %s of the clone: %w", e.path, err)
		}
		if err := do(e, r, size); err != nil {
			return err
		}
		if _, err := r.Discard(1); err != nil { // the end of the line
			return fmt.Errorf("read %s of the clone: %w", e.path, err)
		}
	}
	return nil
}

// configure makes check.FindConfig find the configuration of the commit in one of the folders, which are below that of
// the commit: that of the root unless one of them has its own, instead of the one of the working directory. It is empty
// if the commit has none.
func configure(dir string, folders []string) error {
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, check.ConfigName)); err == nil {
			return nil
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, check.ConfigName)) //nolint:gosec // it was written before
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the configuration of the commit: %w", err)
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return create(filepath.Join(folder, check.ConfigName), bytes.NewReader(text))
		}
	}
	return nil
}

// readCommit reads the documents that a commit has at paths, as read reads them in a folder that the commit was
// unpacked in, which is removed afterwards. Messages name files as the commit has them.
func readCommit(ctx context.Context, from clone, ref string, paths []string,
	read func(paths []string) (*folder.Body, error),
) (body *folder.Body, of commit, err error) {
	paths, err = pathsInCommit(paths)
	if err != nil {
		return nil, of, err
	}
	if of, err = from.commit(ctx, ref); err != nil {
		return nil, of, err
	}
	dir, err := os.MkdirTemp("", "purser-")
	if err == nil {
		defer os.RemoveAll(dir) //nolint:errcheck // what is left of it is private
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, of, fmt.Errorf("unpack the commit: %w", err)
	}
	unpacked := make([]string, len(paths))
	for i, at := range paths {
		unpacked[i] = filepath.Join(dir, filepath.FromSlash(at))
	}
	if err = from.unpack(ctx, of, paths, dir); err == nil {
		err = configure(dir, unpacked)
	}
	if err == nil {
		body, err = read(unpacked)
	}
	name := strings.NewReplacer(filepath.ToSlash(dir)+"/", "", dir+string(filepath.Separator), "", dir, "commit "+of.id)
	if err != nil {
		return nil, of, renamed(err, name)
	}
	body.Rename(name.Replace)
	return body, of, nil
}

// renamed returns an error with other names of files, and of the same kind.
func renamed(err error, name *strings.Replacer) error {
	text := name.Replace(err.Error())
	if _, ok := errors.AsType[folder.Invalid](err); ok {
		return folder.Invalid(text)
	}
	return errors.New(text)
}

// pathsInCommit returns paths as git has them, that of all files if there are none.
func pathsInCommit(paths []string) (all []string, err error) {
	for _, at := range paths {
		if at == "-" || !filepath.IsLocal(at) {
			return nil, fmt.Errorf("with --from-git, paths are those of the commit, from the root of its repository, such as "+
				"site/, and not %s", at)
		}
		all = append(all, path.Clean(filepath.ToSlash(at)))
	}
	if len(all) == 0 {
		all = []string{"."}
	}
	return all, nil
}
