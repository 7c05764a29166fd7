// Package servers finds the server that a name stands for in the configuration file of the user.
//
//	name or URL ──Find──► configuration file, if there is one ──► Server
//
// Invariants:
//   - A name is looked up before it is taken for a URL.
//   - Without a name, the file must say which server is the current one, or have only one.
//   - Paths of the file are relative to its folder, not to the working directory.
//   - No token is read here.
package servers

import (
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

// configuration is the configuration file: servers by name, and the current one.
type configuration struct {
	Current string            `json:"current"`
	Servers map[string]Server `json:"servers"`

	path string
}

// Server is a server and how to connect to it. In the file, paths are relative to it, and ~ is the home directory.
type Server struct {
	URL          string   `json:"url"`
	TokenFile    string   `json:"token-file"`
	TokenCommand []string `json:"token-command"` // program and arguments that print the token
	CA           string   `json:"ca"`
	Cert         string   `json:"cert"`
	Key          string   `json:"key"`
}

// Find returns the server with a name in the configuration file or with a URL, or the current server if name is "".
func Find(ctx context.Context, name string) (Server, error) {
	config, err := readConfiguration(ctx, configPath())
	if err != nil {
		return Server{}, err
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
func (c configuration) server(name string) (Server, error) {
	if name == "" {
		name = c.Current
	}
	if found, ok := c.Servers[name]; ok {
		return c.resolved(found)
	}
	names := slices.Sorted(maps.Keys(c.Servers))
	switch {
	case strings.Contains(name, "://"):
		return Server{URL: name}, nil
	case name == "" && len(names) == 1:
		return c.resolved(c.Servers[names[0]])
	case name == "":
		return Server{}, fmt.Errorf("no server is named: give --server URL, set PURSER_SERVER, or name one in %s",
			c.path)
	case len(names) == 0:
		return Server{}, fmt.Errorf("%q is neither a URL such as https://purser.example:9000 nor a server named in %s, "+
			"which has none", name, c.path)
	}
	hint := "it has " + strings.Join(names, ", ")
	if nearest := words.Nearest(name, names); nearest != "" {
		hint = fmt.Sprintf("did you mean %q?", nearest)
	}
	return Server{}, fmt.Errorf("there is no server %q in %s; %s", name, c.path, hint)
}

// resolved returns a server with absolute paths.
func (c configuration) resolved(s Server) (Server, error) {
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
