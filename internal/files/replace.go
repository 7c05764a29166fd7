package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Create writes a file that only its owner can read, and creates its directory if that is missing. The error is
// fs.ErrExist if the path already exists.
func Create(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the directory of %s: %w", path, err)
	}
	return install(path, text, nil, os.Link)
}

// Replace replaces the text of a file and keeps its owner and mode, so root can change the files of a server that runs
// as another user. A missing file is created and readable only by its owner. Readers see either the old or the new
// text, even after a power cut; once Replace has returned, they see the new one.
func Replace(path string, text []byte) error {
	old, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace the file: %w", about(path, err))
	}
	return install(path, text, old, os.Rename)
}

// install writes a text to a temporary file, with the owner and mode of old unless that is nil, and moves it to path
// with put.
func install(path string, text []byte, old fs.FileInfo, put func(temporary, path string) error) error {
	dir := filepath.Dir(path)
	file, err := os.CreateTemp(dir, ".new-*") // mode 0600
	if err == nil {
		defer os.Remove(file.Name()) //nolint:errcheck // after a rename it does not exist
		_, err = file.Write(text)
		err = errors.Join(err, resemble(file, old), file.Sync(), file.Close())
	}
	if err == nil {
		err = put(file.Name(), path)
	}
	if failed, ok := errors.AsType[*os.LinkError](err); ok {
		err = failed.Err // without the name of the temporary file
	}
	if err == nil {
		err = SyncDirectory(dir)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// resemble sets the mode of a file to that of old, and its owner and group if they differ.
func resemble(file *os.File, old fs.FileInfo) error {
	if old == nil {
		return nil
	}
	now, err := file.Stat()
	if was, known := ownerOf(old); err == nil && known {
		if is, _ := ownerOf(now); was != is {
			err = file.Chown(was.user, was.group)
		}
	}
	return errors.Join(err, file.Chmod(old.Mode().Perm()))
}

// owner is the owner of a file.
type owner struct{ user, group int }

// SyncDirectory makes changes of the names in a directory survive a power cut. Windows cannot sync directories.
func SyncDirectory(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	directory, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return about(path, err)
	}
	return errors.Join(directory.Sync(), directory.Close())
}

// Lock keeps other processes that also use Lock from changing a file until unlock is called. If path is a symbolic
// link, target is the file that it leads to; replacing path would replace the link.
func Lock(path string) (target string, unlock func(), err error) {
	if target, err = filepath.EvalSymlinks(path); err != nil {
		target = path
	}
	directory, err := os.Open(filepath.Dir(target))
	if err != nil {
		return "", nil, fmt.Errorf("lock the directory of %s: %w", path, err)
	}
	if err := lock(directory); err != nil {
		return "", nil, errors.Join(fmt.Errorf("lock the directory of %s: %w", path, err), directory.Close())
	}
	return target, func() { _ = directory.Close() }, nil
}
