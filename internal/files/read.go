// Package files reads and replaces small files that people and programs change while a server runs: keys, certificates,
// tokens, policies.
//
// Watched keeps the parsed content of files and reads them again when their text has changed. Create and Replace write
// a file whole or not at all. An error names the file that it is about exactly once, at its beginning.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// ReadPrivate returns the text of a regular file that only its owner can read and change. If the owner is root, a group
// may be able to read it. A file larger than maxBytes is an error.
func ReadPrivate(path string, maxBytes int64) ([]byte, error) {
	text, _, err := read(path, maxBytes, true)
	return text, err
}

// read returns the text of a regular file and the time of its last modification.
func read(path string, maxBytes int64, private bool) (text []byte, modified time.Time, err error) {
	// Without O_NONBLOCK, opening a named pipe would wait for a writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, modified, about(path, err)
	}
	defer file.Close() //nolint:errcheck // only read
	info, err := file.Stat()
	if err != nil {
		return nil, modified, about(path, err)
	}
	if err := check(path, info, private); err != nil {
		return nil, modified, err
	}
	text, err = io.ReadAll(io.LimitReader(file, maxBytes+1))
	switch {
	case err != nil:
		return nil, modified, about(path, err)
	case int64(len(text)) > maxBytes:
		return nil, modified, fmt.Errorf("%s: the file has more than %d bytes", path, maxBytes)
	}
	return text, info.ModTime(), nil
}

func check(path string, info fs.FileInfo, private bool) error {
	of, known := ownerOf(info)
	switch perm := info.Mode().Perm(); {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: it is not a regular file", path)
	case private && perm&forbidden(of, known, os.Geteuid()) != 0:
		return fmt.Errorf("%s: it is open to others (mode %04o): chmod 600 %s", path, perm, path)
	}
	return nil
}

// forbidden returns the permissions that a private file must not have. Root can only give a file to another user's
// process through a group, as a volume of Kubernetes with a Secret does.
func forbidden(of owner, known bool, user int) fs.FileMode {
	if known && of.user == 0 && user != 0 {
		return 0o037
	}
	return 0o077
}

// about returns an error that contains the path of a file only once, at its beginning.
func about(path string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
