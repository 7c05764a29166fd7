package authz

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lookEvery is how often a policy file is looked at, at most, and how long one must have been left alone to be read at
// the first look: somebody may still be writing it.
const lookEvery = time.Second

// File is a policy file that is read again when it changes. It is safe for concurrent use.
type File struct {
	path   string
	log    *slog.Logger
	now    func() time.Time
	policy atomic.Pointer[Policy]

	looking sync.Mutex // held by whoever looks at the file; guards what follows
	looked  time.Time
	read    stamp // of the file as it was read last, well or not
	found   stamp // at the last look
}

// stamp tells one state of a file from another; the zero one is that of a file that is not there.
type stamp struct{ info os.FileInfo }

func (s stamp) is(other stamp) bool {
	if s.info == nil || other.info == nil {
		return s.info == nil && other.info == nil
	}
	return os.SameFile(s.info, other.info) && s.info.Size() == other.info.Size() &&
		s.info.ModTime().Equal(other.info.ModTime())
}

// Open reads a policy file; "" is the defaults, for good. The error says all that is wrong with the file.
func Open(path string, log *slog.Logger, now func() time.Time) (*File, error) {
	f := &File{path: path, log: log, now: now, looked: now()}
	if path == "" {
		f.policy.Store(Default())
		return f, nil
	}
	f.read = stampOf(path)
	f.found = f.read
	policy, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("policy file %s: %w", path, err)
	}
	f.policy.Store(policy)
	return f, nil
}

// Policy is the policy in force now. If the file has changed it is read first; if it cannot be read, the log says why
// and the policy stays as it was. Whoever comes while another one looks at the file gets the policy from before.
func (f *File) Policy() *Policy {
	if f.path != "" && f.looking.TryLock() {
		f.look()
		f.looking.Unlock()
	}
	return f.policy.Load()
}

func (f *File) look() {
	now := f.now()
	if passed := now.Sub(f.looked); passed >= 0 && passed < lookEvery {
		return
	}
	f.looked = now
	before := f.found
	f.found = stampOf(f.path)
	if f.found.is(f.read) || !f.found.is(before) && f.found.isFresh(now) {
		return
	}
	f.read = f.found
	f.reload()
}

// isFresh tells whether a file was written to just now.
func (s stamp) isFresh(now time.Time) bool {
	return s.info != nil && now.Sub(s.info.ModTime()) < lookEvery
}

func (f *File) reload() {
	policy, err := load(f.path)
	if err != nil {
		f.log.Error("the policy file has changed and cannot be used; the rules from before stay in force",
			"path", f.path, "error", err)
		return
	}
	f.policy.Store(policy)
	f.log.Info("the policy file has changed; its rules are in force", "path", f.path)
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info}
}

// load reads a file up to the size that Parse refuses.
func load(path string) (*Policy, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, reason(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file") // reading a pipe would wait for somebody to write
	}
	file, err := os.Open(path) //nolint:gosec // whoever starts the server says which file
	if err != nil {
		return nil, reason(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return nil, reason(err)
	}
	return Parse(text)
}

// reason leaves the path out of an error; it is said once, by whoever asked for the file.
func reason(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}
