package folder

import (
	"cmp"
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

	"purser/internal/check"
	"purser/internal/document"
	"purser/internal/document/blockyaml"
	"purser/internal/wire"
)

// Pull is what a pull does with a folder. Names of files are relative to the folder, with slashes.
type Pull struct {
	Written []string // BUCKET/KIND/NAME.yaml
	Deleted []string
	Lost    []string // of those written: files that hold documents which are not pulled
	Kept    []string // although something in them is meant as a document; see existingIn

	dir   string
	files map[string]Document
}

// Allowed says what a pull may do with the files of documents in its folder.
type Allowed struct {
	Replace   bool // replace and delete them
	Encrypted bool // also those of encrypted documents
}

// PlanPull returns what a pull of documents does with a folder. It returns an error if the folder is not empty and
// nothing in it may be replaced, or if a file that may not be replaced is in the way.
func PlanPull(ctx context.Context, dir string, documents []Document, allowed Allowed) (Pull, error) {
	files, err := filesOf(documents)
	if err != nil {
		return Pull{}, err
	}
	pull := Pull{Written: slices.Sorted(maps.Keys(files)), dir: dir, files: files}
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
	held, kept, err := existingIn(ctx, root, dir, documents, allowed.Encrypted)
	if err != nil {
		return pull, err
	}
	pull.Kept = kept
	old := slices.Sorted(maps.Keys(held))
	pull.Deleted = slices.DeleteFunc(slices.Clone(old), func(name string) bool {
		_, again := files[name]
		return again
	})
	pull.Lost = lost(held, pull.Written, documents)
	return pull, mustBeFree(root, dir, pull.Written, old)
}

// lost returns the names of files that hold documents which are not pulled.
func lost(held map[string][]Document, names []string, pulled []Document) (found []string) {
	known := map[wire.Identity]bool{}
	for i := range pulled {
		known[pulled[i].anywhere()] = true
	}
	for _, name := range names {
		if slices.ContainsFunc(held[name], func(doc Document) bool { return !known[doc.anywhere()] }) {
			found = append(found, name)
		}
	}
	return found
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

// mustBeFree returns an error if one of the names to write is that of something that is not old, a sorted list, or in a
// folder that is a link out of root.
func mustBeFree(root *os.Root, dir string, names, old []string) error {
	for _, name := range names {
		in := filepath.Dir(filepath.FromSlash(name))
		if _, err := root.Stat(in); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is in the way: it is no folder, or a link that leads out of %s (%w); move it. Nothing was "+
				"written", filepath.Join(dir, in), dir, err)
		}
		if _, replaced := slices.BinarySearch(old, name); replaced {
			continue
		}
		if _, err := root.Lstat(filepath.FromSlash(name)); err == nil {
			return fmt.Errorf("%s is in the way: it is no file, cannot be read, or holds something other than documents that "+
				"you may see; move it. Nothing was written", filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	return nil
}

// Write carries out a pull: it writes each file as a whole, then deletes files, and folders that become empty. If it
// fails, no file has been deleted, and each has its old or its new content.
func (p Pull) Write() error {
	if err := os.MkdirAll(p.dir, 0o755); err != nil { //nolint:gosec // folders of a clone have the same mode
		return fmt.Errorf("write the documents: %w", err)
	}
	root, err := os.OpenRoot(p.dir) // so links do not lead out of the folder
	if err != nil {
		return fmt.Errorf("write the documents: %w", err)
	}
	defer root.Close() //nolint:errcheck // the files in it are closed
	for _, name := range p.Written {
		doc, mode := p.files[name], fs.FileMode(0o644)
		if doc.encrypted {
			mode = 0o600 // somebody may replace the reference in it by the data
		}
		text := blockyaml.Append(nil, document.AppendJSON(nil, doc.value(false)))
		if err := replace(root, filepath.FromSlash(name), text, mode); err != nil {
			return fmt.Errorf("write the documents: %w", err)
		}
	}
	for _, name := range p.Deleted {
		if err := root.Remove(filepath.FromSlash(name)); err != nil {
			return fmt.Errorf("delete old documents: %w", err)
		}
		for in := path.Dir(name); in != "." && root.Remove(filepath.FromSlash(in)) == nil; {
			in = path.Dir(in)
		}
	}
	return nil
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

// filesOf returns documents by their file names, BUCKET/KIND/NAME.yaml with slashes. A number is added to names that
// differ only in case, and to those of documents that differ only in layer or version. Names of buckets cannot be
// shortened, because a change set takes them from the folders: too long ones are an error.
func filesOf(documents []Document) (map[string]Document, error) {
	slices.SortStableFunc(documents, func(a, b Document) int {
		return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Layer, b.Layer))
	})
	files, taken, folders := map[string]Document{}, map[string]bool{}, map[string]string{}
	for _, doc := range documents {
		kind := doc.Schema
		if parts := strings.Split(doc.Schema, "/"); len(parts) == 3 {
			kind = parts[1]
		}
		// The first spelling of a kind is used for all, because a file system may ignore case.
		bucket := folderName(string(doc.Bucket))
		if len(bucket) > maxName {
			return nil, fmt.Errorf("the name of bucket %s is too long for a folder: it would have %d characters, and file "+
				"systems take %d. Nothing was written. purser show --bucket BUCKET writes the documents of a single bucket to "+
				"standard output, and purser push BUCKET FILE puts them back", doc.Bucket, len(bucket), maxName)
		}
		folder := bucket + "/" + shortened(folderName(kind))
		if first, ok := folders[strings.ToLower(folder)]; ok {
			folder = first
		}
		folders[strings.ToLower(folder)] = folder
		base := folder + "/" + shortened(folderName(doc.Name))
		name := base + ".yaml"
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s~%d.yaml", base, n)
		}
		taken[strings.ToLower(name)], files[name] = true, doc
	}
	return files, nil
}

// maxName is the length of the longest name that file systems take.
const maxName = 255

// shortened shortens the name of a file or folder that is too long for file systems. Like folderName, it leaves no dot
// at the end.
func shortened(name string) string {
	const most = 200
	return strings.TrimRight(name[:min(len(name), most)], ".")
}
