package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"purser/internal/check"
	"purser/internal/words"
)

// configuration is the configuration file of the user: servers by name, and the current one.
type configuration struct {
	Current string                 `json:"current"`
	Servers map[string]serverEntry `json:"servers"`

	path string
}

// serverEntry is a server and how to connect to it. In the file, paths are relative to it, and ~ is the home directory.
type serverEntry struct {
	URL          string   `json:"url"`
	Site         string   `json:"site"`
	TokenFile    string   `json:"token-file"`
	TokenCommand []string `json:"token-command"` // program and arguments that print the token
	CA           string   `json:"ca"`
	Cert         string   `json:"cert"`
	Key          string   `json:"key"`
}

// findServer returns the server with a URL or with a name in the configuration file, or the current one for no name.
func findServer(ctx context.Context, name string) (serverEntry, error) {
	config, err := readConfiguration(ctx, configPath())
	if err != nil {
		return serverEntry{}, err
	}
	return config.server(name)
}

// configPath returns the path of the configuration file.
func configPath() string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "purser", "config.yaml")
}

// readConfiguration reads a configuration file. A missing file is the same as an empty one.
func readConfiguration(ctx context.Context, path string) (configuration, error) {
	config := configuration{path: path}
	text, err := os.ReadFile(path) //nolint:gosec // the user names it
	switch {
	case path == "" || errors.Is(err, fs.ErrNotExist):
		return config, nil
	case err != nil:
		return config, fmt.Errorf("read the configuration: %w", err)
	}
	if err := check.DecodeOptions(ctx, text, &config); err != nil {
		return config, fmt.Errorf("%s: %w", path, err)
	}
	return config, nil
}

// server returns the server with a name or URL, or the current server if name is "".
func (c configuration) server(name string) (serverEntry, error) {
	if _, known := c.Servers[cmp.Or(name, c.Current)]; !known && strings.Contains(name, "://") {
		return serverEntry{URL: name}, nil
	}
	name, err := c.named(name)
	if err != nil {
		return serverEntry{}, err
	}
	return c.resolved(c.Servers[name])
}

// named returns a name of a server in the file, that of the current server for "".
func (c configuration) named(name string) (string, error) {
	name = cmp.Or(name, c.Current)
	if _, ok := c.Servers[name]; ok {
		return name, nil
	}
	names := c.names()
	switch {
	case name == "" && len(names) == 1:
		return names[0], nil
	case name == "":
		return "", fmt.Errorf("no server is named: %s", c.choice(names))
	case len(names) == 0:
		return "", fmt.Errorf("%q is neither a URL such as https://purser.example:9000 nor a server named in %s, "+
			"which has none", name, c.path)
	}
	hint := "it has " + strings.Join(names, ", ")
	if nearest := words.Nearest(name, names); nearest != "" {
		hint = fmt.Sprintf("did you mean %q?", nearest)
	}
	return "", fmt.Errorf("there is no server %q in %s; %s", name, c.path, hint)
}

// choice says how to name a server.
func (c configuration) choice(names []string) string {
	if len(names) == 0 {
		return "give --server URL, set PURSER_SERVER, or store a server by purser login URL or purser config add NAME URL"
	}
	return fmt.Sprintf("%s has %s; give --server NAME, or choose one by purser config use NAME", c.path,
		strings.Join(names, ", "))
}

// names returns the names of the servers, sorted.
func (c configuration) names() []string { return slices.Sorted(maps.Keys(c.Servers)) }

// resolved returns a server with absolute paths.
func (c configuration) resolved(s serverEntry) (serverEntry, error) {
	for _, path := range []*string{&s.TokenFile, &s.CA, &s.Cert, &s.Key} {
		switch rest, home := strings.CutPrefix(*path, "~/"); {
		case *path == "" || filepath.IsAbs(*path):
		case home:
			dir, err := os.UserHomeDir()
			if err != nil {
				return s, fmt.Errorf("find the home directory, for %s: %w", *path, err)
			}
			*path = filepath.Join(dir, rest)
		default:
			*path = filepath.Join(filepath.Dir(c.path), *path)
		}
	}
	return s, nil
}
