package authn

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// fileState tells one content of a file from another without reading it.
type fileState struct {
	size     int64
	modified int64 // nanoseconds
	inode    uint64
	mode     fs.FileMode
	user     uint32
	group    uint32
}

func stateOf(info fs.FileInfo) fileState {
	state := fileState{size: info.Size(), modified: info.ModTime().UnixNano(), mode: info.Mode()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		state.inode, state.user, state.group = stat.Ino, stat.Uid, stat.Gid
	}
	return state
}

// checkPrivate refuses a file that others may read, or change.
func checkPrivate(info fs.FileInfo) error {
	const others = 0o077
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	case info.Mode().Perm()&others != 0:
		return fmt.Errorf("others can read or change it (mode %#o); chmod 600", info.Mode().Perm())
	}
	return nil
}

// readPrivate reads a file of at most so many bytes that nobody but its owner may read.
func readPrivate(path string, most int64) ([]byte, fileState, error) {
	// Without O_NONBLOCK a named pipe would keep the caller waiting for a writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // the operator's own
	if err != nil {
		return nil, fileState{}, err //nolint:wrapcheck // it names the path and what was done
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, fileState{}, err //nolint:wrapcheck // the same
	}
	if err := checkPrivate(info); err != nil {
		return nil, fileState{}, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: it has more than %d bytes", path, most)
	}
	return text, stateOf(info), err
}
