//go:build unix

package plugin

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

// TestCall_grandchildren shows that what a plugin has started ends with it: when it is cancelled, and when it exits while
// a process that it has started keeps its output open.
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
			// The process that sleeps has the pipe open, so that its end is seen there.
			script := "#!/bin/sh\nexec 3>'" + pipe + "'\nsleep 1000 &\n" + c.script
			if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error)
			go func() {
				file, err := os.Open(pipe) // waits for the other end
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

// TestInGroup_done shows that a plugin that ends by itself while it is cancelled has not failed to be cancelled.
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
