//go:build !linux

package storetest

import "os"

// place returns the directory for clusters.
func place() string { return os.TempDir() }
