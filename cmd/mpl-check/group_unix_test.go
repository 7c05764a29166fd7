//go:build unix

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestCall_grandchildren checks that the processes started by a plugin are killed when it is canceled, and when it
// exits while one of them keeps its output open.
func TestCall_grandchildren(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"cancelled": {"wait\n", "signal: killed: "},
		"exits":     {"echo '{}'\n", "exec: WaitDelay expired before I/O complete: "},
		"fails":     {"exit 3\n", "exit status 3: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe, path := filepath.Join(t.TempDir(), "pipe"), filepath.Join(t.TempDir(), "plugin")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			// The sleeping process has the pipe open, so its end is noticed there.
			script := "#!/bin/sh\nexec 3>'" + pipe + "'\nsleep 1000 &\n" + c.script
			if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error)
			go func() {
				file, err := os.Open(pipe) // waits until the other end is opened
				if err == nil {
					if name == "cancelled" {
						cancel()
					}
					_, err = io.Copy(io.Discard, file)
					_ = file.Close()
				}
				ended <- err
			}()
			var out struct{}
			if err := call(ctx, &out, nil, path); err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestInGroup_done checks that killing a plugin that has already exited is not an error.
func TestInGroup_done(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("true")
	kill := inGroup(cmd)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if err := kill(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("killing a group that is gone: %v", err)
	}
}
