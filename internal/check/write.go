package check

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"purser/internal/document/blockyaml"

	"purser/internal/document"
	"purser/internal/revisions"
)

// Render returns the rendered documents of a report as YAML, one text per bucket, by its name. Secrets are shown as
// hashes.
func (r Report) Render() map[string][]byte {
	texts := map[string][]byte{}
	for bucket, documents := range revisions.GroupByBucket(r.Rendered) {
		for _, doc := range documents {
			texts[bucket] = append(texts[bucket], "---\n"...)
			texts[bucket] = blockyaml.Append(texts[bucket], jsonOf(doc))
		}
	}
	return texts
}

// jsonOf returns a document as JSON text.
func jsonOf(doc *revisions.Stored) []byte {
	text := append([]byte(`{"schema":`), document.AppendJSON(nil, doc.Schema)...)
	text = append(append(text, `,"metadata":`...), doc.Metadata...)
	text = append(append(text, `,"data":`...), doc.Data...)
	return append(text, '}')
}

// rendered begins the files that WriteFolder writes, so that it knows those of an earlier run.
const rendered = "# Rendered by purser check: the next run replaces this file.\n"

// WriteFolder writes texts as files in a folder, which it creates if necessary: BUCKET.yaml for each, documents.yaml
// for ".". It replaces files of an earlier run. It returns an error instead of writing outside the folder, overwriting
// any other file, or writing two buckets to one file.
func WriteFolder(folder string, texts map[string][]byte, read []string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // as other folders
		return fmt.Errorf("make a folder: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // the files in it are closed
	sources := map[string]bool{}
	for _, name := range read {
		sources[realPath(name)] = true
	}
	buckets := slices.Sorted(maps.Keys(texts))
	for _, bucket := range buckets {
		name := outputOf(bucket)
		if sources[realPath(filepath.Join(folder, name))] {
			return fmt.Errorf("%w: %s is one of the files that are checked; name another folder", ErrOutput,
				filepath.Join(folder, name))
		}
		if err := removeRendered(root, name); err != nil {
			return err
		}
	}
	for _, bucket := range buckets {
		if err := writeNew(root, outputOf(bucket), texts[bucket]); errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%w: the documents of %s would be written to %s, as others are; name the paths from the folder "+
				"that holds all of them", ErrOutput, bucket, filepath.Join(folder, outputOf(bucket)))
		} else if err != nil {
			return fmt.Errorf("write rendered documents: %w", err)
		}
	}
	return nil
}

// removeRendered removes a link or a file of an earlier run. It returns an error if there is another file.
func removeRendered(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // writing the file fails
	}
	if info.Mode().IsRegular() {
		old, err := root.ReadFile(name)
		if err != nil || !bytes.HasPrefix(old, []byte(rendered)) {
			return fmt.Errorf("%w: %s is there, and is not of an earlier run; name another folder, or move it", ErrOutput,
				filepath.Join(root.Name(), name))
		}
	}
	if err := root.Remove(name); err != nil {
		return fmt.Errorf("replace rendered documents: %w", err)
	}
	return nil
}

// ErrOutput is the error for rendered documents that cannot be written.
var ErrOutput = errors.New("rendered documents are not written")

// outputOf returns the file of a bucket, relative to the output folder. Several buckets may have the same one.
func outputOf(bucket string) string {
	if bucket == "." {
		return "documents.yaml"
	}
	name := filepath.FromSlash(strings.TrimSuffix(bucket, ".yaml"))
	return filepath.Clean("/" + name[len(filepath.VolumeName(name)):])[1:] + ".yaml"
}

// realPath returns the absolute path of a file, with links resolved if it exists.
func realPath(name string) string {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	if absolute, err := filepath.Abs(name); err == nil {
		name = absolute
	}
	return name
}

// writeNew writes a file that must not exist, and creates its folders.
func writeNew(root *os.Root, name string, text []byte) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err //nolint:wrapcheck // the caller does
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err //nolint:wrapcheck // the caller does
	}
	_, err = file.Write(append([]byte(rendered), text...))
	return errors.Join(err, file.Close())
}

// Same reports whether two lists have the same files with the same texts.
func Same(a, b []File) bool {
	return slices.EqualFunc(a, b, func(a, b File) bool {
		return a.Name == b.Name && a.Broken == b.Broken && bytes.Equal(a.Text, b.Text)
	})
}
