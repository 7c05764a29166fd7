package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"purser/internal/murano"
)

// pythonLoadAll loads YAML files with PyYAML's C loader and prints the time in seconds, without that of reading the
// files and starting the interpreter. It counts a file that fails to load up to the failure.
const pythonLoadAll = `
import sys, time, yaml
texts = [open(name, 'rb').read() for name in sys.stdin.read().split('\n')]
began = time.perf_counter()
for text in texts:
    try:
        list(yaml.load_all(text, yaml.CSafeLoader))
    except yaml.YAMLError:
        pass
print(time.perf_counter() - began)
`

// packages measures row 24: checking Murano packages, relative to PyYAML's C loader parsing their YAML.
func (b *bench) packages(ctx context.Context) error {
	const limit = 3
	folder := filepath.Join(b.shared, "cases", "murano", "packages")
	files := yamlFiles(folder)
	if len(files) == 0 {
		b.sayf("row 24: there are no packages in %s", folder)
		return nil
	}
	if err := exec.CommandContext(ctx, "python3", "-c", "import yaml; yaml.CSafeLoader").Run(); err != nil {
		b.sayf("row 24: PyYAML with its C loader is not installed: %v", err)
		return nil
	}
	load := func() (time.Duration, error) {
		cmd := exec.CommandContext(ctx, "python3", "-c", pythonLoadAll)
		cmd.Stdin = strings.NewReader(strings.Join(files, "\n"))
		text, err := cmd.Output()
		if err != nil {
			return 0, fmt.Errorf("python3: %w", err)
		}
		seconds, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
		return time.Duration(seconds * float64(time.Second)), err
	}
	var checked, loaded time.Duration // the shortest times
	for i := range max(3, b.rounds) {
		took, err := timed(func() error { return checkAll(ctx, folder) })
		if err != nil {
			return err
		}
		against, err := load()
		if err != nil {
			return err
		}
		if i == 0 || took < checked {
			checked = took
		}
		if i == 0 || against < loaded {
			loaded = against
		}
	}
	ratio := float64(checked) / float64(loaded)
	what := fmt.Sprintf("%d files of Murano packages checked, to PyYAML's C loader reading them", len(files))
	b.add(24, ratio <= limit, fmt.Sprintf("<= %dx", limit), what,
		fmt.Sprintf("%.2fx (%s to %s)", ratio, short(checked), short(loaded)))
	return nil
}

// yamlFiles returns the YAML files in a folder and its subfolders, none if the folder is missing.
func yamlFiles(folder string) (files []string) {
	_ = filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(name) == ".yaml" {
			files = append(files, name)
		}
		return err
	})
	return files
}

var errNoPackages = errors.New("no packages were checked")

func checkAll(ctx context.Context, folder string) error {
	results, err := murano.RunPath(ctx, folder, murano.Options{Discover: true})
	if err == nil && len(results) == 0 {
		err = errNoPackages
	}
	return err
}
