package folder

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"purser/internal/check"
	"purser/internal/words"
)

// Pull is what a pull does with a folder. Names of files are relative to the folder, with slashes.
type Pull struct {
	Written []string // BUCKET/PATH as pushed, or BUCKET/KIND/NAME.yaml
	Deleted []string // written by an earlier pull, and not changed since
	Kept    []string // written by an earlier pull, and changed since
	// Canonical has the numbers of documents that come in their canonical form, by why they do.
	Canonical map[string]int

	dir     string
	files   map[string]pulled
	last    record
	allowed Allowed
}

// pulled is a file to write.
type pulled struct {
	text      []byte
	encrypted bool // it has an encrypted document
}

// Allowed says what a pull may do.
type Allowed struct {
	Replace   bool // replace and delete files that an earlier pull has written
	Encrypted bool // also those of encrypted documents
}

// PlanPull returns what a pull of documents, as the server returns those that were submitted, does with a folder. It
// returns an error if the folder is not empty and nothing in it may be replaced, or if a file that no pull has written,
// or that has changed since, is in the way.
func PlanPull(ctx context.Context, dir string, submitted []byte, allowed Allowed) (Pull, error) {
	files, canonical, err := filesOf(ctx, submitted)
	if err != nil {
		return Pull{}, err
	}
	pull := Pull{Written: slices.Sorted(maps.Keys(files)), Canonical: canonical, dir: dir, files: files, allowed: allowed}
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return pull, nil
	case err != nil:
		return pull, fmt.Errorf("look at the folder: %w", check.AboutPath(dir, err))
	}
	defer root.Close() //nolint:errcheck // only read
	if !allowed.Replace {
		return pull, mustBeEmpty(root, dir)
	}
	if pull.last, err = lastPull(dir); err != nil {
		return pull, err
	}
	for _, name := range slices.Sorted(maps.Keys(pull.last.Files)) {
		_, again := files[name]
		switch wrote := pull.last.Files[name]; {
		case !exists(root, name):
			delete(pull.last.Files, name)
		case again, wrote.Encrypted && !allowed.Encrypted:
		case wrote.is(root, name):
			pull.Deleted = append(pull.Deleted, name)
		default:
			pull.Kept = append(pull.Kept, name)
		}
	}
	return pull, pull.mustBeFree(root)
}

// mustBeEmpty returns an error if a folder has entries that are not hidden.
func mustBeEmpty(root *os.Root, dir string) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("look at the folder: %w", check.AboutPath(dir, err))
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }) {
		return fmt.Errorf("%s is not empty; name a new folder, or replace its documents with --replace", dir)
	}
	return nil
}

// mustBeFree returns an error if a file to write would replace one that is not as a pull has written it, or has
// documents that may not be seen, or is in a folder that is a link out of root.
func (p Pull) mustBeFree(root *os.Root) error {
	var taken []string
	for _, name := range p.Written {
		in := filepath.Dir(filepath.FromSlash(name))
		info, err := root.Stat(in)
		if err == nil && !info.IsDir() {
			err = syscall.ENOTDIR
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is in the way: it is no folder, or a link that leads out of %s (%w); move it. Nothing was "+
				"written", filepath.Join(p.dir, in), p.dir, err)
		}
		last := p.last.Files[name]
		ours := last.is(root, name) && (p.allowed.Encrypted || !last.Encrypted)
		if exists(root, name) && !ours && !isText(root, name, p.files[name].text) {
			taken = append(taken, filepath.Join(p.dir, filepath.FromSlash(name)))
		}
	}
	if len(taken) == 0 {
		return nil
	}
	return fmt.Errorf("%s in the way, not as a pull of this user has written it, or with encrypted documents that you "+
		"may not see: %s; move or delete it, or pull into a new folder and compare. Nothing was written",
		words.Count(len(taken), "file"), Listed(taken))
}

func exists(root *os.Root, name string) bool {
	_, err := root.Lstat(filepath.FromSlash(name))
	return err == nil
}

// isText reports whether a file is a regular one with a text.
func isText(root *os.Root, name string, text []byte) bool {
	info, err := root.Lstat(filepath.FromSlash(name))
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(text)) {
		return false
	}
	found, err := root.ReadFile(filepath.FromSlash(name))
	return err == nil && bytes.Equal(found, text)
}

// Write carries out a pull: it writes each file as a whole, then deletes files, and folders that become empty. If it
// fails, no file has been deleted, and each has its old or its new content. unrecorded is why the next pull will
// replace nothing of it, if it cannot be recorded.
func (p Pull) Write() (unrecorded, err error) {
	if err := os.MkdirAll(p.dir, 0o755); err != nil { //nolint:gosec // folders of a clone have the same mode
		return nil, fmt.Errorf("write the documents: %w", err)
	}
	root, err := os.OpenRoot(p.dir) // so links do not lead out of the folder
	if err != nil {
		return nil, fmt.Errorf("write the documents: %w", err)
	}
	defer root.Close()                         //nolint:errcheck // the files in it are closed
	if err := p.mustBeFree(root); err != nil { // still
		return nil, err
	}
	var written, deleted []string
	defer func() { unrecorded = p.remember(written, deleted) }()
	for _, name := range p.Written {
		isOurs, err := p.writeFile(root, name)
		if err != nil {
			return nil, fmt.Errorf("write the documents: %w", err)
		}
		if isOurs {
			written = append(written, name)
		}
	}
	for _, name := range p.Deleted {
		if !p.last.Files[name].is(root, name) { // changed meanwhile, or written under another spelling of its name
			continue
		}
		if err := root.Remove(filepath.FromSlash(name)); err != nil {
			return nil, fmt.Errorf("delete old documents: %w", err)
		}
		deleted = append(deleted, name)
		for in := path.Dir(name); in != "." && root.Remove(filepath.FromSlash(in)) == nil; {
			in = path.Dir(in)
		}
	}
	return nil, nil
}

// writeFile writes a file unless there is one with the same text already. It reports whether a pull has written it: a
// file of others does not become one of pulls.
func (p Pull) writeFile(root *os.Root, name string) (isOurs bool, err error) {
	file, mode := p.files[name], fs.FileMode(0o644)
	if isText(root, name, file.text) {
		return p.last.Files[name].is(root, name), nil
	}
	if file.encrypted {
		mode = 0o600 // it has a secret, or somebody may replace the reference in it by one
	}
	return true, replace(root, filepath.FromSlash(name), file.text, mode)
}

// replace creates a file, or replaces it as a whole, and creates its folders. It does not wait for the disk, which
// would take most of the time of a pull: what a power cut damages can be pulled again.
func replace(root *os.Root, name string, text []byte, mode fs.FileMode) error {
	in := filepath.Dir(name)
	if err := root.MkdirAll(in, 0o755); err != nil {
		return err //nolint:wrapcheck // the caller does
	}
	temporary := filepath.Join(in, ".new-"+rand.Text())
	err := root.WriteFile(temporary, text, mode)
	if err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(err, root.RemoveAll(temporary))
	}
	return nil
}

// maxName is the length of the longest name that file systems take.
const maxName = 255

// shortened shortens the name of a file or folder that is too long for file systems. Like folderName, it leaves no dot
// at the end.
func shortened(name string) string {
	const most = 200
	return strings.TrimRight(name[:min(len(name), most)], ".")
}
