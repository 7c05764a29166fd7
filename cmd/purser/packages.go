package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"purser/internal/murano"
)

// checkPackages checks Murano packages, as mpl-check does. Each path is a package or a folder that contains packages.
func (c *checkCommand) checkPackages(ctx context.Context, around *surroundings) error {
	codes := murano.CodesOf(murano.Builtin())
	c.Format, c.FailOn = textForTable(cmp.Or(c.Format, "text")), cmp.Or(c.FailOn, "error")
	if err := oneOf("--format", c.Format, []string{"text", "json", "yaml", "sarif", "junit"}); err != nil {
		return err
	}
	if err := oneOf("--fail-on", c.FailOn, []string{"error", "warning"}); err != nil {
		return err
	}
	for _, selected := range slices.Concat(c.Select, c.Ignore) {
		if !slices.ContainsFunc(codes, func(code murano.Code) bool { return code.Is(selected) }) {
			return fmt.Errorf("there is no code %q; docs/murano-codes.md and mpl-check --list-codes list them", selected)
		}
	}
	var results []murano.PathReport
	for _, path := range c.Paths {
		found, err := murano.RunPath(ctx, path, murano.Options{
			Select: c.Select, Ignore: c.Ignore, Discover: !isPackage(path),
		})
		if err != nil {
			return fmt.Errorf("cannot check %q: %w", path, err)
		}
		if len(found) == 0 && !c.AllowEmpty {
			return fmt.Errorf("there is no package in %q: each has a %s", path, murano.ManifestName)
		}
		results = append(results, found...)
	}
	if err := murano.Write(around.stdout, c.Format, results, codes); err != nil {
		return err
	}
	for _, result := range results {
		if len(result.Report.Errors()) > 0 || c.FailOn == "warning" && len(result.Report.Issues) > 0 {
			return no("")
		}
	}
	return nil
}

// isPackage reports whether a path is a package: a file, or a folder with a manifest.
func isPackage(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return true
	}
	_, err := os.Stat(filepath.Join(path, murano.ManifestName))
	return err == nil
}
