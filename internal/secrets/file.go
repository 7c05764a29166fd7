package secrets

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// largestFile is far above what thousands of keys need, in bytes.
const largestFile = 1 << 20

// readFile reads a keyset file and tells which state of it was read. It refuses one that anybody else may read or
// write.
func readFile(path string) (text []byte, info os.FileInfo, err error) {
	// Without O_NONBLOCK, opening a pipe would wait for somebody to write to it.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, nil, fmt.Errorf("open the keyset file: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	if info, err = f.Stat(); err != nil {
		return nil, nil, fmt.Errorf("look at the keyset file: %w", err)
	}
	if err := checkFile(path, info); err != nil {
		return nil, nil, err
	}
	text, err = io.ReadAll(io.LimitReader(f, largestFile))
	if err != nil {
		return nil, nil, fmt.Errorf("read the keyset file: %w", err)
	}
	return text, info, nil
}

func checkFile(path string, info os.FileInfo) error {
	switch perm := info.Mode().Perm(); {
	case info.IsDir():
		return fmt.Errorf("%s is a directory, not a keyset file", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", path)
	case perm&0o077 != 0:
		return fmt.Errorf("the keyset file %s is open to others (mode %04o): chmod 600 %s", path, perm, path)
	case info.Size() == 0:
		return fmt.Errorf("the keyset file %s is empty", path)
	case info.Size() > largestFile:
		return fmt.Errorf("%s is too large for a keyset file (%d bytes, at most %d)", path, info.Size(), largestFile)
	}
	return nil
}

// createFile writes a file that was not there, readable by its owner alone; os.ErrExist if there is something. Nobody
// ever sees a part of it.
func createFile(path string, text []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the keyset's directory: %w", err)
	}
	return install(dir, text, nil, func(temporary string) error { return os.Link(temporary, path) })
}

// replaceFile replaces a file, keeping its owner and mode; was says what they are.
func replaceFile(path string, text []byte, was os.FileInfo) error {
	return install(filepath.Dir(path), text, was, func(temporary string) error { return os.Rename(temporary, path) })
}

// install writes a text into a file of its own, sees it safely on disk and has put give it its name.
func install(dir string, text []byte, like os.FileInfo, put func(temporary string) error) error {
	f, err := os.CreateTemp(dir, ".keyset-*")
	if err != nil {
		return fmt.Errorf("make a file beside the keyset file: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // after a rename it is gone already
	_, err = f.Write(text)
	if err = errors.Join(err, resemble(f, like), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the keyset file: %w", err)
	}
	if err := put(f.Name()); err != nil {
		return fmt.Errorf("put the keyset file in its place: %w", err)
	}
	return syncDirectory(dir)
}

// resemble gives a file the owner and mode of another one, so that root can rotate the keys of a server that is not.
func resemble(f *os.File, like os.FileInfo) error {
	if like == nil {
		return nil
	}
	var err error
	if stat, ok := like.Sys().(*syscall.Stat_t); ok {
		err = f.Chown(int(stat.Uid), int(stat.Gid))
	}
	return errors.Join(err, f.Chmod(like.Mode().Perm()))
}

func syncDirectory(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("open the keyset's directory: %w", err)
	}
	defer d.Close() //nolint:errcheck // only read
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync the keyset's directory: %w", err)
	}
	return nil
}

// lock keeps every other process from rotating the keys of a directory; what it returns unlocks.
func lock(dir string) (unlock func() error, err error) {
	d, err := os.Open(dir) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("open the keyset's directory: %w", err)
	}
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the keyset's directory: %w", err), d.Close())
	}
	return d.Close, nil
}
