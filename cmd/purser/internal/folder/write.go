package folder

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"purser/internal/check"
	"purser/internal/document"
	"purser/internal/document/blockyaml"
)

// Existing returns the files of documents in a folder, which will be replaced. It returns an error if the folder is not
// empty and must not be replaced.
func Existing(dir string, replace bool) ([]string, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look at the folder: %w", err)
	case !replace && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }):
		return nil, fmt.Errorf("%s is not empty; name a new folder, or replace its documents with --replace", dir)
	}
	return documentFiles(dir)
}

// documentFiles returns the files of documents in a folder and its subfolders. It skips hidden ones and does not follow
// links.
func documentFiles(path string) (files []string, err error) {
	err = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case at != path && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return filepath.SkipDir
			}
		case !entry.IsDir() && check.IsDocumentFile(at):
			files = append(files, at)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for documents: %w", err)
	}
	return files, nil
}

// Write writes each document to a file in a folder. Then it deletes the old files, which Existing has returned, except
// those that it has written. It returns the names of the files, BUCKET/KIND/NAME.yaml with slashes.
func Write(dir string, documents []Document, old []string) ([]string, error) {
	files, err := filesOf(documents)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		doc, at := files[name], filepath.Join(dir, filepath.FromSlash(name))
		mode := fs.FileMode(0o644)
		if doc.encrypted {
			mode = 0o600 // somebody may replace the reference in it by the data
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { //nolint:gosec // folders of a clone have the same mode
			return nil, fmt.Errorf("write the documents: %w", err)
		}
		text := blockyaml.Append(nil, document.AppendJSON(nil, doc.value(false)))
		if err := writeFile(at, text, mode); err != nil {
			return nil, err
		}
	}
	return names, remove(dir, old, files)
}

// remove deletes the old files in a folder that are not among the files with these names, and subfolders that become
// empty.
func remove(dir string, old []string, files map[string]Document) error {
	for _, at := range old {
		name, err := filepath.Rel(dir, at)
		if err != nil {
			return fmt.Errorf("delete old documents: %w", err)
		}
		if _, ok := files[filepath.ToSlash(name)]; ok {
			continue
		}
		if err := os.Remove(at); err != nil {
			return fmt.Errorf("delete old documents: %w", err)
		}
		for in := filepath.Dir(at); in != dir && os.Remove(in) == nil; {
			in = filepath.Dir(in)
		}
	}
	return nil
}

// writeFile writes a file with a mode, even if it exists with another mode.
func writeFile(path string, text []byte, mode fs.FileMode) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write the documents: %w", err)
	}
	if err := os.WriteFile(path, text, mode); err != nil {
		return fmt.Errorf("write the documents: %w", err)
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
		bucket := folderName(doc.Bucket)
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
		path := base + ".yaml"
		for n := 2; taken[strings.ToLower(path)]; n++ {
			path = fmt.Sprintf("%s~%d.yaml", base, n)
		}
		taken[strings.ToLower(path)], files[path] = true, doc
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

var encryptedDocument = regexp.MustCompile(`storagePolicy["']?\s*:\s*["']?encrypted`)

// MayBeEncrypted reports whether a file may contain an encrypted document.
func MayBeEncrypted(path string) bool {
	text, err := os.ReadFile(path) //nolint:gosec // the caller names the folder
	return err != nil || encryptedDocument.Match(text)
}
