// Package mplcheck is what the commands that check Murano packages share: it checks the packages at a path, which are
// one package, those below a folder, or those in an archive. Plugins are validators that are separate programs. Reports
// and lists of codes are written for people and for pipelines.
package mplcheck

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
	"purser/internal/murano"
	"purser/internal/murano/pack"
)

// Result is the report about a package.
type Result struct {
	Path   string // of the package
	Report murano.Report
}

// Options select packages and checks. With the zero Options, the path is that of one package.
type Options struct {
	murano.Options

	Discover bool // the path is a folder to search for packages
	Nested   bool // archives at the top of a package are packages, too
}

// Run checks the packages at a path. The error is a *pack.Unreadable if there is no package.
func Run(ctx context.Context, path string, o Options) ([]Result, error) {
	if !o.Discover {
		return one(ctx, path, o)
	}
	var results []Result
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != path: // it was just deleted
			return nil
		case err != nil:
			return &pack.Unreadable{Reason: err.Error()}
		case !entry.IsDir() || name == path || strings.HasPrefix(entry.Name(), "."):
			return nil
		}
		if _, err := os.Stat(filepath.Join(name, murano.ManifestName)); err != nil {
			return nil //nolint:nilerr // it is not a package
		}
		found, err := one(ctx, name, o)
		results = append(results, found...)
		return err
	})
	if err != nil {
		return results, fmt.Errorf("look for packages below %s: %w", path, err)
	}
	return results, nil
}

// one checks a package and, if o.Nested is set, those in it.
func one(ctx context.Context, path string, o Options) ([]Result, error) {
	ctx, end := budget.NewPool(1, time.Minute).Begin(ctx)
	defer end()
	limits := pack.DefaultLimits()
	limits.Nested = o.Nested
	budget.From(ctx).Grant(int(limits.Total)) // the package is the caller's own
	pkg, err := pack.Open(ctx, path, limits)
	if err != nil {
		return nil, err
	}
	var results []Result
	if o.Nested {
		if results, err = nested(ctx, path, pkg, o); err != nil {
			return nil, err
		}
		if _, ok := pkg.Files[murano.ManifestName]; !ok && len(results) > 0 && !pkg.Unread {
			return results, nil // a bundle
		}
	}
	report, err := murano.Run(ctx, pkg, o.Options)
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", path, err)
	}
	if pkg.Single {
		for i := range report.Issues {
			report.Issues[i].File = filepath.Base(path)
		}
	}
	return append([]Result{{path, report}}, results...), nil
}

// nested checks the archives at the top of a package.
func nested(ctx context.Context, path string, pkg *murano.Package, o Options) (results []Result, err error) {
	for _, name := range pkg.Search("", ".zip") {
		if strings.Contains(name, "/") {
			continue
		}
		inner, err := pack.Zip(ctx, pkg.Files[name].Raw, pack.DefaultLimits())
		if unreadable, ok := errors.AsType[*pack.Unreadable](err); ok {
			inner, err = &murano.Package{Unread: true, Problems: []murano.Issue{unreadable.Issue()}}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s in %s: %w", name, path, err)
		}
		report, err := murano.Run(ctx, inner, o.Options)
		if err != nil {
			return nil, fmt.Errorf("check %s in %s: %w", name, path, err)
		}
		results = append(results, Result{path + "/" + name, report})
	}
	return results, nil
}
