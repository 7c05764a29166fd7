package murano

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"purser/internal/budget"
)

// PathReport is the report about a package at a path.
type PathReport struct {
	Path   string
	Report Report
}

// RunPath checks the packages at a path: one package or, with o.Discover, those below a folder. The error is an
// *Unreadable if there is no package.
func RunPath(ctx context.Context, path string, o Options) ([]PathReport, error) {
	if !o.Discover {
		return runOne(ctx, path, o)
	}
	var results []PathReport
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != path: // it was just deleted
			return nil
		case err != nil:
			return &Unreadable{Reason: err.Error()}
		case !entry.IsDir() || name == path || strings.HasPrefix(entry.Name(), "."):
			return nil
		}
		if _, err := os.Stat(filepath.Join(name, ManifestName)); err != nil {
			return nil //nolint:nilerr // it is not a package
		}
		found, err := runOne(ctx, name, o)
		results = append(results, found...)
		return err
	})
	if err != nil {
		return results, fmt.Errorf("look for packages below %s: %w", path, err)
	}
	return results, nil
}

// runOne checks a package and, if o.Nested is set, those in it.
func runOne(ctx context.Context, path string, o Options) ([]PathReport, error) {
	ctx, end := budget.NewPool(1, time.Minute).Begin(ctx)
	defer end()
	limits := DefaultLimits()
	limits.Nested = o.Nested
	budget.From(ctx).Grant(int(limits.Total)) // the package is the caller's own
	pkg, err := Open(ctx, path, limits)
	if err != nil {
		return nil, err
	}
	var results []PathReport
	if o.Nested {
		if results, err = runNested(ctx, path, pkg, o); err != nil {
			return nil, err
		}
		if _, ok := pkg.Files[ManifestName]; !ok && len(results) > 0 && !pkg.Unread {
			return results, nil // a bundle
		}
	}
	report, err := Run(ctx, pkg, o)
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", path, err)
	}
	if pkg.Single {
		for i := range report.Issues {
			report.Issues[i].File = filepath.Base(path)
		}
	}
	return append([]PathReport{{path, report}}, results...), nil
}

// runNested checks the archives at the top of a package.
func runNested(ctx context.Context, path string, pkg *Package, o Options) (results []PathReport, err error) {
	for _, name := range pkg.Search("", ".zip") {
		if strings.Contains(name, "/") {
			continue
		}
		inner, err := ReadZip(ctx, pkg.Files[name].Raw, DefaultLimits())
		if unreadable, ok := errors.AsType[*Unreadable](err); ok {
			inner, err = &Package{Unread: true, Problems: []Issue{unreadable.Issue()}}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s in %s: %w", name, path, err)
		}
		report, err := Run(ctx, inner, o)
		if err != nil {
			return nil, fmt.Errorf("check %s in %s: %w", name, path, err)
		}
		results = append(results, PathReport{path + "/" + name, report})
	}
	return results, nil
}
