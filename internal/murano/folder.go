package murano

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"purser/internal/budget"
)

// Open reads a folder, a zip archive, or a YAML file that is part of a package. The error is an *Unreadable if it is
// none of these or cannot be opened.
func Open(ctx context.Context, path string, limits Limits) (*Package, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, &Unreadable{err.Error()}
	case info.IsDir():
		return readFolder(ctx, path, limits)
	case info.Size() > limits.Total:
		return giveUpf("%s has %d bytes, at most %d are read", path, info.Size(), limits.Total), nil
	}
	content, err := os.ReadFile(path) //nolint:gosec // the caller names it
	if err != nil {
		return nil, &Unreadable{err.Error()}
	}
	if ext := filepath.Ext(path); ext == ".yaml" || ext == ".yml" {
		return ReadSingle(ctx, filepath.ToSlash(path), content)
	}
	return ReadZip(ctx, content, limits)
}

// readFolder reads a folder. It follows links that do not lead out of it.
func readFolder(ctx context.Context, path string, limits Limits) (*Package, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, &Unreadable{err.Error()}
	}
	defer func() { _ = root.Close() }() // nothing is written
	f := &folderReader{loader: newLoader(budget.NewMeter(ctx), limits, limits.Total), root: root}
	if err := fs.WalkDir(root.FS(), ".", f.visit); err != nil && !errors.Is(err, errGaveUp) {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return f.pkg, nil
}

// folderReader reads the files of a folder.
type folderReader struct {
	*loader

	root *os.Root
	seen int
}

func (f *folderReader) visit(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		return &Unreadable{err.Error()}
	}
	if f.seen++; f.seen > f.limits.Files {
		f.pkg = giveUpf("The folder has more than %d files", f.limits.Files)
		return errGaveUp
	}
	if entry.IsDir() {
		return nil
	}
	info, err := f.root.Stat(name)
	switch {
	case err != nil:
		f.reportf("PKG:E128", name, "this cannot be read, or it is a link that leads out of the package")
		return nil
	case info.IsDir():
		return nil
	case !info.Mode().IsRegular():
		f.reportf("PKG:E128", name, "this is a device or a pipe; only files and folders are read")
		return nil
	}
	if problem := nameProblem(name); problem != "" {
		f.reportf("PKG:E122", name, "this name is refused: %s", problem)
		return nil
	}
	file, err := f.root.Open(name)
	if err != nil {
		return &Unreadable{err.Error()}
	}
	defer func() { _ = file.Close() }() // nothing is written
	err = f.add(name, file)
	if failed, ok := errors.AsType[*readError](err); ok {
		return &Unreadable{failed.Error()}
	}
	return err
}

// ReadSingle returns a package with one file: a manifest, a form definition or a class, according to its path or its
// keys.
func ReadSingle(ctx context.Context, path string, content []byte) (*Package, error) {
	name := filepath.Base(path)
	switch folder := filepath.Base(filepath.Dir(path)); {
	case name == ManifestName:
	case folder == "UI":
		name = "UI/" + name
	case folder == "Classes":
		name = "Classes/" + name
	default:
		docs, err := parseYAML(budget.NewMeter(ctx), content)
		if _, ok := errors.AsType[*yamlError](err); err != nil && !ok {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		name = role(docs) + name
	}
	if filepath.Ext(name) == ".yml" {
		name += ".yaml" // the validators ignore other extensions
	}
	digest := sha256.Sum256(content)
	file := &File{Raw: content, Size: int64(len(content)), Digest: hex.EncodeToString(digest[:])}
	return &Package{Single: true, Files: map[string]*File{name: file}}, nil
}

// role returns the folder for a file with these documents, according to their keys.
func role(docs []*Value) string {
	for _, doc := range docs {
		if doc.Get("Forms") != nil || doc.Get("Application") != nil {
			return "UI/"
		}
	}
	return "Classes/"
}
