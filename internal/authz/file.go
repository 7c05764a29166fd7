package authz

import (
	"fmt"
	"log/slog"
	"time"

	"purser/internal/files"
)

// File is a policy file that is read again when it changes. It is safe for concurrent use.
type File struct {
	defaults *Policy // without a file
	watched  *files.Watched[*Policy]
}

// Open reads a policy file; "" is the defaults, for good. The error says all that is wrong with the file. A file that
// somebody is writing is left alone until it stays the same: a part of one may allow more than the whole.
func Open(path string, log *slog.Logger, now func() time.Time) (*File, error) {
	if path == "" {
		return &File{defaults: Default()}, nil
	}
	watched, err := files.Watch(files.Source[*Policy]{
		Paths: []string{path}, MaxBytes: MaxSize, Now: now, Settle: true,
		Parse: func(texts [][]byte) (*Policy, error) {
			policy, err := Parse(texts[0])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			return policy, nil
		},
		Report: func(_ *Policy, err error) {
			if err != nil {
				log.Error("the policy file has changed and cannot be used; the rules from before stay in force",
					"path", path, "error", err)
				return
			}
			log.Info("the policy file has changed; its rules are in force", "path", path)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("policy file %w", err)
	}
	return &File{watched: watched}, nil
}

// Policy returns the policy in force. If the file has changed it is read first; if it cannot be used, the log says why
// and the policy stays as it was.
func (f *File) Policy() *Policy {
	if f.watched == nil {
		return f.defaults
	}
	return f.watched.Current()
}
