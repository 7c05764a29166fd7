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

// Open reads a policy file. Rules that it does not name have their defaults; if path is "", all have. The error
// lists all problems of the file. A changed file is used only once it stays the same for a while: an incomplete one may
// allow more than the whole.
func Open(path string, defaults Defaults, log *slog.Logger, now func() time.Time) (*File, error) {
	if path == "" {
		return &File{defaults: Default(defaults)}, nil
	}
	watched, err := files.Watch(files.Source[*Policy]{
		Paths: []string{path}, MaxBytes: MaxSize, Now: now, Settle: true,
		Parse: func(texts [][]byte) (*Policy, error) {
			policy, err := Parse(texts[0], defaults)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			return policy, nil
		},
		Report: func(policy *Policy, err error) {
			if err != nil {
				log.Error("the access rules have changed and cannot be used; the previous rules still apply",
					"path", path, "error", err)
				return
			}
			log.Info("the access rules have changed and apply now", "path", path)
			logReplaced(log, path, policy)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("access rules %w", err)
	}
	logReplaced(log, path, watched.Current())
	return &File{watched: watched}, nil
}

// logReplaced logs the built-in roles that have only the rights that a file gives them.
func logReplaced(log *slog.Logger, path string, policy *Policy) {
	for _, role := range policy.replaced {
		log.Info("the policy file checks a built-in role, and so decides alone what the role may do; to add to its rights, "+
			"refer to its rule instead", "path", path, "role", role.Name, "rule", role.Rule)
	}
}

// Policy returns the policy in force. It first reads the file if it has changed. If the file cannot be used, it logs
// the reason and keeps the previous policy.
func (f *File) Policy() *Policy {
	if f.watched == nil {
		return f.defaults
	}
	return f.watched.Current()
}
