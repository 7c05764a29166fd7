//go:build !linux

package store

import "syscall"

// limitUnacknowledged does nothing where the kernel has no limit of this kind: keep-alive probes and deadlines remain.
func limitUnacknowledged(string, string, syscall.RawConn) error { return nil }
