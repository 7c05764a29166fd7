//go:build !linux

// Package inmemory has a directory for the clusters of tests.
package inmemory

import "os"

// Dir returns the directory for clusters.
func Dir() string { return os.TempDir() }
