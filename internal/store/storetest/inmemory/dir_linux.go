// Package inmemory has a directory for the clusters of tests. It is apart from storetest because storetest imports
// local, whose tests use it too.
package inmemory

import (
	"os"
	"syscall"
)

// roomy is the least free space of a file system in memory that holds a cluster, in bytes.
const roomy = 4 << 30

// Dir returns the directory for clusters: one in memory if it has room. Elsewhere, the kernel needs twice as long to
// make the files of a database.
func Dir() string {
	const memory = "/dev/shm"
	var system syscall.Statfs_t
	if err := syscall.Statfs(memory, &system); err != nil || system.Bavail*uint64(max(0, system.Bsize)) < roomy {
		return os.TempDir()
	}
	return memory
}
