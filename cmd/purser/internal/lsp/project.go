package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"purser/internal/check"
	"purser/internal/queries"
)

// project checks the files of a folder, with the texts of open files in place of those on disk. It is not safe for
// concurrent use.
type project struct {
	root  string   // the folder, an absolute path
	paths []string // what is checked in it

	config  check.Config
	reader  *check.Reader
	checker *check.Checker
}

// state is the outcome of one check. It never changes.
type state struct {
	root     string
	texts    map[string][]byte // by name
	findings []check.Finding
	site     *check.Site
}

// in returns a path within the folder.
func (p *project) in(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(p.root, path)
}

// within returns paths within the folder.
func (p *project) within(paths []string) (full []string) {
	for _, path := range paths {
		full = append(full, p.in(path))
	}
	return full
}

// nameIn returns the name of a file in reports: its path relative to a folder, with slashes.
func nameIn(root, path string) string {
	if below, err := filepath.Rel(root, path); err == nil {
		path = below
	}
	return filepath.ToSlash(path)
}

// check checks the files as they are now. open has the texts of open files by their paths.
func (p *project) check(ctx context.Context, open map[string][]byte) (*state, error) {
	if err := p.configure(ctx); err != nil {
		return nil, err
	}
	files, err := p.read(open)
	if err != nil {
		return nil, err
	}
	report, site, err := p.checker.Inspect(ctx, files)
	if err != nil {
		return nil, err
	}
	report = report.Choose(p.config.Select, p.config.Ignore)
	if p.config.Baseline != "" {
		baseline, err := check.ReadBaseline(ctx, p.config.Baseline)
		if err != nil {
			return nil, err
		}
		report = report.Without(baseline)
	}
	report = report.Printed()
	if last := len(report.Findings) - 1; report.More > 0 {
		report.Findings = append(report.Findings, check.Finding{
			Place: report.Findings[last].Place, Level: queries.LevelInfo,
			Message: fmt.Sprintf("The folder has %d more findings, which are not shown", report.More),
		})
	}
	s := &state{root: p.root, texts: map[string][]byte{}, findings: report.Findings, site: site}
	for _, file := range files {
		s.texts[file.Name] = file.Text
	}
	return s, nil
}

// configure reads .purser.yaml, and begins anew if it has changed.
func (p *project) configure(ctx context.Context) error {
	config, err := check.FindConfig(ctx, append(p.within(p.paths), p.root))
	if err != nil {
		return err
	}
	if p.checker != nil && reflect.DeepEqual(config, p.config) {
		return nil
	}
	if err := check.ParsePatterns(config.Exclude); err != nil {
		return fmt.Errorf("%s: %w", check.ConfigName, err)
	}
	if err := check.KnowsRules(slices.Concat(config.Select, config.Ignore)); err != nil {
		return fmt.Errorf("%s: %w", check.ConfigName, err)
	}
	if config.BucketBy != "" && !slices.Contains(check.Groupings(), config.BucketBy) {
		return fmt.Errorf("%s: bucket-by is %q, but must be one of %s", check.ConfigName, config.BucketBy,
			strings.Join(check.Groupings(), ", "))
	}
	p.config, p.reader = config, &check.Reader{Stdin: strings.NewReader(""), Exclude: config.Exclude}
	p.checker = check.New(check.Options{
		BucketBy: config.BucketBy, ClientVersions: config.ClientVersions, AssertFormats: config.AssertFormats,
	})
	return nil
}

// read returns the files, those with schemas last, named as purser check names them when it runs in the folder.
func (p *project) read(open map[string][]byte) (files []check.File, err error) {
	seen := map[string]bool{}
	for i, paths := range [][]string{p.paths, p.config.Schemas} {
		read, _, err := p.reader.Read(p.within(paths), i == 1)
		if err != nil {
			return nil, err
		}
		for _, file := range read {
			path := filepath.FromSlash(file.Name)
			if text, isOpen := open[path]; isOpen {
				file.Text, file.Broken = text, ""
			}
			seen[path] = true
			file.Name = nameIn(p.root, path)
			files = append(files, file)
		}
	}
	var added []check.File
	for path, text := range open {
		if !seen[path] && p.wants(path) {
			added = append(added, check.File{Name: nameIn(p.root, path), Text: text, Found: true})
		}
	}
	slices.SortFunc(added, func(a, b check.File) int { return strings.Compare(a.Name, b.Name) })
	return append(added, files...), nil
}

// wants reports whether a file would be read if it was on disk: it is open, and not saved yet.
func (p *project) wants(path string) bool {
	if _, err := os.Lstat(path); err == nil || !check.IsDocumentFile(path) {
		return false
	}
	return slices.ContainsFunc(p.paths, func(within string) bool {
		below, err := filepath.Rel(p.in(within), path)
		if err != nil || !filepath.IsLocal(below) {
			return false
		}
		parts := strings.Split(filepath.ToSlash(below), "/")
		for i, part := range parts {
			if strings.HasPrefix(part, ".") && below != "." || p.reader.Excludes(strings.Join(parts[:i+1], "/")) {
				return false
			}
		}
		return true
	})
}
