package check

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"purser/internal/document"
)

// Reader reads the files of paths. It caches them and reads only changed files again.
type Reader struct {
	Stdin io.Reader // for the path "-"
	// Exclude has patterns, as of path.Match, for the files and folders in a folder that are skipped. They match names, or
	// paths relative to the folder that is read.
	Exclude []string
	// Below is the path of the folders that are read, relative to the one of Exclude; "" if they are the same.
	Below string

	kept  map[string]keptFile
	stdin []byte
}

type keptFile struct {
	size    int64
	changed time.Time
	text    []byte
}

// MaxFileSize is the size of the largest file that is read, as of a body.
const MaxFileSize = 32 << 20

// Bounds of one reading.
const (
	maxSize  = 256 << 20 // of all files together
	maxFiles = 100_000
	maxDepth = 50 // of folders
)

// ErrTooMuch is the error for paths with more than can be checked in one run.
var ErrTooMuch = errors.New("too much to check at once")

// Read returns the files of paths: named files, and from folders all *.yaml, *.yml and *.json files that are not
// hidden, in order of their names. "-" is the standard input. Each file is returned once. Files that cannot be read are
// Broken. excluded are the files of documents and the folders that Exclude matches. It returns an error if a path does
// not exist or if there is too much to check.
func (r *Reader) Read(paths []string, schemasOnly bool) (files []File, excluded []string, err error) {
	w := walk{reader: r, seen: map[string]bool{}, schemasOnly: schemasOnly, kept: map[string]keptFile{}}
	for _, name := range paths {
		if err := w.path(name); err != nil {
			return nil, nil, err
		}
	}
	if r.kept == nil {
		r.kept = map[string]keptFile{}
	}
	maps.Copy(r.kept, w.kept)
	return w.files, w.excluded, nil
}

// walk is one call of Read.
type walk struct {
	reader      *Reader
	files       []File
	excluded    []string
	seen        map[string]bool // by the path without symbolic links
	kept        map[string]keptFile
	size        int64
	schemasOnly bool
}

func (w *walk) path(name string) error {
	if name == "-" {
		if w.seen[name] {
			return nil
		}
		w.seen[name] = true
		if w.reader.stdin == nil {
			text, err := io.ReadAll(io.LimitReader(w.reader.Stdin, MaxFileSize+1))
			if err != nil {
				return fmt.Errorf("read the standard input: %w", err)
			}
			w.reader.stdin = text
		}
		return w.add(File{Name: "-", Text: w.reader.stdin, SchemasOnly: w.schemasOnly})
	}
	info, err := os.Stat(name)
	if err != nil {
		return AboutPath(name, err)
	}
	if !info.IsDir() {
		return w.file(name, false)
	}
	return w.folder(name, w.reader.Below, 0)
}

// Excludes reports whether a file or folder is skipped, by its path relative to the folder that Exclude is relative to.
func (r *Reader) Excludes(below string) bool {
	return slices.ContainsFunc(r.Exclude, func(pattern string) bool {
		byName, _ := path.Match(pattern, path.Base(below))
		byPath, _ := path.Match(pattern, below)
		return byName || byPath
	})
}

// folder reads the files of a folder. It reads each folder once, so that cycles of links end.
func (w *walk) folder(name, below string, depth int) error {
	target, err := filepath.EvalSymlinks(name)
	if err != nil || w.seen[target] {
		return w.broken(name, err)
	}
	w.seen[target] = true
	if depth > maxDepth {
		return w.broken(name, errDepth)
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return w.broken(name, err)
	}
	for _, entry := range entries {
		if err := w.entry(entry, name, below, depth); err != nil {
			return err
		}
	}
	return nil
}

var errDepth = fmt.Errorf("it is more than %d folders deep", maxDepth)

// entry reads an entry of a folder.
func (w *walk) entry(entry fs.DirEntry, folder, below string, depth int) error {
	name, below := filepath.Join(folder, entry.Name()), path.Join(below, entry.Name())
	if strings.HasPrefix(entry.Name(), ".") {
		return nil
	}
	if w.reader.Excludes(below) {
		if entry.IsDir() || IsDocumentFile(name) {
			w.excluded = append(w.excluded, nameOf(name))
		}
		return nil
	}
	mode := entry.Type()
	if mode&fs.ModeSymlink != 0 {
		info, err := os.Stat(name)
		switch {
		case err == nil:
			mode = info.Mode().Type()
		case IsDocumentFile(name):
			return w.broken(name, err)
		default:
			return nil
		}
	}
	switch {
	case mode.IsDir():
		return w.folder(name, below, depth+1)
	case mode.IsRegular() && IsDocumentFile(name):
		return w.file(name, true)
	}
	return nil
}

// IsDocumentFile reports whether a file's name has an extension of document files.
func IsDocumentFile(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name)))
}

// MediaOf returns the format of a file, by its name.
func MediaOf(name string) document.Media {
	if strings.EqualFold(filepath.Ext(name), ".json") {
		return document.JSON
	}
	return document.YAML
}

// AboutPath returns an error about a path for people: the path and the reason, without the system call.
func AboutPath(path string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

func (w *walk) file(name string, found bool) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		if w.seen[target] {
			return nil
		}
		w.seen[target] = true
	}
	info, err := os.Stat(name)
	if err != nil {
		return w.broken(name, err)
	}
	if info.Size() > MaxFileSize {
		return w.broken(name, fmt.Errorf("it has %d bytes, more than the %d of one file that a server takes at once",
			info.Size(), MaxFileSize))
	}
	kept, known := w.reader.kept[name]
	if !known || kept.size != info.Size() || !kept.changed.Equal(info.ModTime()) {
		text, err := readFile(name)
		if err != nil {
			return w.broken(name, err)
		}
		kept = keptFile{info.Size(), info.ModTime(), text}
	}
	w.kept[name] = kept
	return w.add(File{Name: nameOf(name), Text: kept.text, Found: found, SchemasOnly: w.schemasOnly})
}

// readFile reads a file, which may be a pipe, up to one byte more than MaxFileSize.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the path is the user's
	if err != nil {
		return nil, fmt.Errorf("open a file: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, MaxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("read a file: %w", err)
	}
	return text, nil
}

// broken adds a file that cannot be read, if there is an error.
func (w *walk) broken(path string, err error) error {
	if err == nil {
		return nil
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return w.add(File{Name: nameOf(path), Broken: "It cannot be read: " + err.Error(), SchemasOnly: w.schemasOnly})
}

func (w *walk) add(file File) error {
	if len(file.Text) > MaxFileSize { // the exact size is unknown
		file.Text, file.Broken = nil, fmt.Sprintf("It has more than the %d bytes of one file that a server takes at once",
			MaxFileSize)
	}
	if w.size += int64(len(file.Text)); w.size > maxSize {
		return fmt.Errorf("%w: the paths hold more than %d MiB; check them in parts", ErrTooMuch, maxSize>>20)
	}
	if w.files = append(w.files, file); len(w.files) > maxFiles {
		return fmt.Errorf("%w: the paths hold more than %d files; check them in parts", ErrTooMuch, maxFiles)
	}
	return nil
}

// nameOf returns the name of a file in reports.
func nameOf(path string) string { return filepath.ToSlash(filepath.Clean(path)) }

// ParsePatterns returns an error for a malformed pattern of Reader.Exclude.
func ParsePatterns(patterns []string) error {
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("the pattern %q of what to exclude: %w", pattern, err)
		}
	}
	return nil
}
