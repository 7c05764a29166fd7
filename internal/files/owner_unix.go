//go:build !windows

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// ownerOf returns the owner of a file. ok is false if it is not known.
func ownerOf(info fs.FileInfo) (of owner, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}, false
	}
	return owner{int(stat.Uid), int(stat.Gid)}, true
}

// lock locks an open directory until it is closed.
func lock(directory *os.File) error {
	return os.NewSyscallError("flock", syscall.Flock(int(directory.Fd()), syscall.LOCK_EX))
}
