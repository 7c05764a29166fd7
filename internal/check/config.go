package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"
)

// ConfigName is the name of the file in which a folder says how it is checked.
const ConfigName = ".purser.yaml"

// Config is how a folder is checked where the command line does not say.
type Config struct {
	Format         string            `yaml:"format"`
	FailOn         string            `yaml:"fail-on"`
	Select         []string          `yaml:"select"`
	Ignore         []string          `yaml:"ignore"`
	Baseline       string            `yaml:"baseline"` // paths are relative to the folder
	Schemas        []string          `yaml:"schemas"`
	Exclude        []string          `yaml:"exclude"` // see Reader
	BucketBy       string            `yaml:"bucket-by"`
	ClientVersions map[string]string `yaml:"client-versions"`
	AssertFormats  bool              `yaml:"assert-formats"`
}

// FindConfig returns the Config of the first of some paths that is a folder with one, or else of the working directory.
// It is empty if there is none.
func FindConfig(paths []string) (config Config, err error) {
	for _, path := range append(paths[:len(paths):len(paths)], ".") {
		name := filepath.Join(path, ConfigName)
		if _, err := os.Stat(name); err == nil {
			return ReadConfig(name)
		}
	}
	return config, nil
}

// ReadConfig reads a Config. Its paths are those of its folder afterwards.
func ReadConfig(name string) (config Config, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return config, fmt.Errorf("read the configuration: %w", err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&config); err != nil && !errors.Is(err, io.EOF) {
		return config, fmt.Errorf("read %s: %w", name, err)
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
