package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"purser/internal/document/blockyaml"

	"purser/internal/words"

	"purser/internal/check"
	"purser/internal/client"
	"purser/internal/document"
)

// pullCommand writes the documents of a revision to files.
type pullCommand struct {
	remote
	output

	Dir      string `arg:"" help:"Folder to write to, which gets a folder for each bucket." complete:"file"`
	Revision string `arg:"" default:"latest" help:"Revision: 17, latest, tag:NAME, latest~1."`
	Replace  bool   `help:"Replace the documents in the folder: those that the revision does not have are deleted."`
}

// Help returns the end of the command's help.
func (*pullCommand) Help() string {
	return `Each bucket becomes a folder, with a file for each document. purser push --changeset takes the folder back
unchanged.

  purser pull site/                    # the newest revision
  purser pull site/ tag:good --replace # replacing the files that are there`
}

// Run writes the documents of the revision to the folder.
func (c *pullCommand) Run(ctx context.Context, around *surroundings) error {
	server, err := c.connect(ctx, around)
	if err != nil {
		return err
	}
	c.Dir = filepath.Clean(c.Dir)
	if target, err := filepath.EvalSymlinks(c.Dir); err == nil {
		c.Dir = target
	}
	old, err := c.existing()
	if err != nil {
		return err
	}
	revision, err := server.Resolve(ctx, c.Revision)
	if err != nil {
		return err
	}
	var about client.Revision
	if _, err := server.Get(ctx, &about, nil, "revisions", revision); err != nil {
		return err
	}
	id := strconv.FormatInt(about.ID, 10)
	text, err := server.Get(ctx, nil, url.Values{}, "revisions", id, "documents")
	if err != nil {
		return err
	}
	documents, err := documentsOf(text)
	if err != nil {
		return err
	}
	files := filesOf(documents)
	if mayNotSeeEncrypted(ctx, server) {
		fmt.Fprintln(around.stderr, "purser: warning: you may not see encrypted documents; they were left out, and files of "+
			"such documents are kept")
		old = slices.DeleteFunc(old, isEncryptedFile)
	}
	if err := c.write(files, old); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(files))
	return c.print(around, shown{
		text:  marshal(map[string]any{"revision": about.ID, "stamp": about.Stamp, "files": names}),
		names: []string{id},
		table: func(w io.Writer) {
			fmt.Fprintf(w, "Revision %d: %s in %s\n", about.ID, words.Count(len(documents), "document"), c.Dir)
		},
	})
}

// existing returns the files of documents in the folder, which will be replaced. It returns an error if the folder is
// not empty and must not be replaced.
func (c *pullCommand) existing() ([]string, error) {
	entries, err := os.ReadDir(c.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look at the folder: %w", err)
	case !c.Replace && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }):
		return nil, fmt.Errorf("%s is not empty; name a new folder, or replace its documents with --replace", c.Dir)
	}
	return documentFiles(c.Dir)
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

// write writes the files, and then deletes the old files that are not among them.
func (c *pullCommand) write(files map[string]stored, old []string) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		doc, at := files[name], filepath.Join(c.Dir, filepath.FromSlash(name))
		mode := fs.FileMode(0o644)
		if doc.encrypted {
			mode = 0o600 // the file's data is not encrypted
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { //nolint:gosec // folders of a clone have the same mode
			return fmt.Errorf("write the documents: %w", err)
		}
		text := blockyaml.Append(nil, document.AppendJSON(nil, doc.value(false)))
		if err := writeFile(at, text, mode); err != nil {
			return err
		}
	}
	for _, at := range old {
		name, err := filepath.Rel(c.Dir, at)
		if err != nil {
			return fmt.Errorf("delete old documents: %w", err)
		}
		if _, ok := files[filepath.ToSlash(name)]; ok {
			continue
		}
		if err := os.Remove(at); err != nil {
			return fmt.Errorf("delete old documents: %w", err)
		}
		for dir := filepath.Dir(at); dir != c.Dir && os.Remove(dir) == nil; {
			dir = filepath.Dir(dir)
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
// differ only in case, and to those of documents that differ only in layer or version.
func filesOf(documents []stored) map[string]stored {
	slices.SortStableFunc(documents, func(a, b stored) int {
		return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Layer, b.Layer))
	})
	files, taken, folders := map[string]stored{}, map[string]bool{}, map[string]string{}
	for _, doc := range documents {
		kind := doc.Schema
		if parts := strings.Split(doc.Schema, "/"); len(parts) == 3 {
			kind = parts[1]
		}
		// The first spelling of a kind is used for all, because a file system may ignore case.
		folder := folderName(doc.Bucket) + "/" + folderName(kind)
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
	return files
}

// shortened shortens the name of a file that is too long for file systems.
func shortened(name string) string {
	const most = 200
	return name[:min(len(name), most)]
}

// mayNotSeeEncrypted reports whether the server answers that the caller may not list encrypted documents.
func mayNotSeeEncrypted(ctx context.Context, server *client.Client) bool {
	var caller client.Caller
	_, err := server.Get(ctx, &caller, nil, "whoami")
	return err == nil && !slices.Contains(caller.Rules, "deckhand:list_encrypted_documents")
}

var encryptedDocument = regexp.MustCompile(`storagePolicy["']?\s*:\s*["']?encrypted`)

// isEncryptedFile reports whether a file may contain an encrypted document.
func isEncryptedFile(path string) bool {
	text, err := os.ReadFile(path) //nolint:gosec // the caller names the folder
	return err != nil || encryptedDocument.Match(text)
}
