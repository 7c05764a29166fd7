package check

import (
	"errors"
	"fmt"
	"io/fs"
)

// AboutPath returns an error about a path for people: the path and the reason, without the system call.
func AboutPath(path string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
