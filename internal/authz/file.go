package authz

import (
	"fmt"
	"log/slog"
	"time"

	"purser/internal/files"
)

// File is a policy file that is read again when it changes. It is safe for concurrent use.
type File struct {
	defaults *Policy // used if there is no file
	watched  *files.Watched[*Policy]
}

// Open reads a policy file. If path is "", the policy is always the default. The error lists all problems of the file.
// A changed file is used only once it stays the same for a while: an incomplete one may allow more than the whole.
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
				log.Error("the access rules have changed and cannot be used; the rules from before stay in force",
					"path", path, "error", err)
				return
			}
			log.Info("the access rules have changed and are in force", "path", path)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("access rules %w", err)
	}
	return &File{watched: watched}, nil
}

// Policy returns the policy in force. It first reads the file if it has changed. If the file cannot be used, it logs
// the reason and keeps the previous policy.
func (f *File) Policy() *Policy {
	if f.watched == nil {
		return f.defaults
	}
	return f.watched.Current()
}
