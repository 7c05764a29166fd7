package files

import (
	"errors"
	"fmt"
	"io/fs"
)

// About returns an error about a path for people: the path and the reason, without the system call.
func About(path string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
