package pack

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
	"purser/internal/murano"
)

// Open reads a folder, a zip archive, or a YAML file that is part of a package. The error is an *Unreadable if it is
// none of these or cannot be opened.
func Open(ctx context.Context, path string, limits Limits) (*murano.Package, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, &Unreadable{err.Error()}
	case info.IsDir():
		return Folder(ctx, path, limits)
	case info.Size() > limits.Total:
		return giveUpf("%s has %d bytes, at most %d are read", path, info.Size(), limits.Total), nil
	}
	content, err := os.ReadFile(path) //nolint:gosec // the caller names it
	if err != nil {
		return nil, &Unreadable{err.Error()}
	}
	if ext := filepath.Ext(path); ext == ".yaml" || ext == ".yml" {
		return Single(ctx, filepath.ToSlash(path), content)
	}
	return Zip(ctx, content, limits)
}

// Folder reads a folder. It follows links that do not lead out of it.
func Folder(ctx context.Context, path string, limits Limits) (*murano.Package, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, &Unreadable{err.Error()}
	}
	defer func() { _ = root.Close() }() // nothing is written
	f := &folderReader{
		copier: copier{meter: budget.NewMeter(ctx), limits: limits, most: limits.Total},
		root:   root, pkg: &murano.Package{Files: map[string]*murano.File{}},
	}
	err = fs.WalkDir(root.FS(), ".", f.visit)
	switch {
	case errors.Is(err, errTooLarge):
		return f.tooLarge(f.last), nil
	case errors.Is(err, errTooMany):
		return giveUpf("The folder has more than %d files", limits.Files), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return f.pkg, nil
}

var errTooMany = errors.New("too many files")

// folderReader reads the files of a folder.
type folderReader struct {
	copier

	root *os.Root
	pkg  *murano.Package
	last string
	seen int
}

func (f *folderReader) visit(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		return &Unreadable{err.Error()}
	}
	if f.seen++; f.seen > f.limits.Files {
		return errTooMany
	}
	f.last = name
	if entry.IsDir() {
		return nil
	}
	info, err := f.root.Stat(name)
	switch {
	case err != nil:
		addf(f.pkg, "PKG:E128", name, "this cannot be read, or it is a link that leads out of the package")
		return nil
	case info.IsDir():
		return nil
	case !info.Mode().IsRegular():
		addf(f.pkg, "PKG:E128", name, "this is a device or a pipe; only files and folders are read")
		return nil
	}
	if problem := nameProblem(filepath.ToSlash(name)); problem != "" {
		addf(f.pkg, "PKG:E122", name, "this name is refused: %s", problem)
		return nil
	}
	file, err := f.root.Open(name)
	if err != nil {
		return &Unreadable{err.Error()}
	}
	defer func() { _ = file.Close() }() // nothing is written
	read, err := f.file(filepath.ToSlash(name), file)
	if failed, ok := errors.AsType[*readError](err); ok {
		return &Unreadable{failed.Error()}
	}
	if err == nil {
		f.pkg.Files[filepath.ToSlash(name)] = read
	}
	return err
}

// Single returns a package with one file: a manifest, a form definition or a class, according to its path or its keys.
func Single(ctx context.Context, path string, content []byte) (*murano.Package, error) {
	name := filepath.Base(path)
	switch folder := filepath.Base(filepath.Dir(path)); {
	case name == murano.ManifestName:
	case folder == "UI":
		name = "UI/" + name
	case folder == "Classes":
		name = "Classes/" + name
	default:
		docs, err := murano.ParseYAML(budget.NewMeter(ctx), content)
		if _, ok := errors.AsType[*murano.Problem](err); err != nil && !ok {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		name = role(docs) + name
	}
	if filepath.Ext(name) == ".yml" {
		name += ".yaml" // the validators ignore other extensions
	}
	digest := sha256.Sum256(content)
	file := &murano.File{Raw: content, Size: int64(len(content)), Digest: hex.EncodeToString(digest[:])}
	return &murano.Package{Single: true, Files: map[string]*murano.File{name: file}}, nil
}

// role returns the folder for a file with these documents, according to their keys.
func role(docs []*murano.Value) string {
	for _, doc := range docs {
		if doc.Get("Forms") != nil || doc.Get("Application") != nil {
			return "UI/"
		}
	}
	return "Classes/"
}
