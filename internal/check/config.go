package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// ConfigName is the name of the file that configures the check of its folder.
const ConfigName = ".purser.yaml"

// Config has defaults for the options of the command line.
type Config struct {
	Format         string            `json:"format"`
	FailOn         string            `json:"fail-on"`
	Select         []string          `json:"select"`
	Ignore         []string          `json:"ignore"`
	Baseline       string            `json:"baseline"` // paths are relative to the folder
	Schemas        []string          `json:"schemas"`
	Exclude        []string          `json:"exclude"` // see Reader
	BucketBy       string            `json:"bucket-by"`
	ClientVersions map[string]string `json:"client-versions"`
	AssertFormats  bool              `json:"assert-formats"`
}

// FindConfig returns the Config of the first of the paths that is a folder with one, otherwise that of the working
// directory, or an empty one.
func FindConfig(ctx context.Context, paths []string) (config Config, err error) {
	for _, path := range append(slices.Clip(paths), ".") {
		name := filepath.Join(path, ConfigName)
		if _, err := os.Stat(name); err == nil {
			return ReadConfig(ctx, name)
		}
	}
	return config, nil
}

// ReadConfig reads a Config. Relative paths in it are made relative to the working directory.
func ReadConfig(ctx context.Context, name string) (config Config, err error) {
	text, err := os.ReadFile(name) //nolint:gosec // the path is the user's
	if err != nil {
		return config, fmt.Errorf("read the configuration: %w", err)
	}
	if err := DecodeOptions(ctx, text, &config); err != nil {
		return config, fmt.Errorf("%s: %w", name, err)
	}
	relative := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(filepath.Dir(name), path)
	}
	config.Baseline = relative(config.Baseline)
	for i := range config.Schemas {
		config.Schemas[i] = relative(config.Schemas[i])
	}
	return config, nil
}
