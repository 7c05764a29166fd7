package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"syscall"
	"time"
)

// profilingHook is a source file that makes a server write a CPU profile until it receives SIGUSR1. The build overlays
// it on the server's sources, so that the profiled code is otherwise identical to the released one, which needs no flag
// for profiles.
//
//go:embed profiling_hook.go.txt
var profilingHook []byte

// profileVariable is the environment variable with the path of the profile.
const profileVariable = "BENCH_CPUPROFILE"

// overlay returns the build flags that add the hook to the server, or none if no profile is wanted.
func (b *bench) overlay() ([]string, error) {
	if b.profiles == "" {
		return nil, nil
	}
	hook, list := filepath.Join(b.dir, "hook.go"), filepath.Join(b.dir, "overlay.json")
	target, err := filepath.Abs("cmd/server/bench_profiling_hook.go")
	if err != nil {
		return nil, fmt.Errorf("find the server's sources: %w", err)
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {target: hook}})
	if err != nil {
		return nil, fmt.Errorf("write the overlay: %w", err)
	}
	for path, text := range map[string][]byte{hook: profilingHook, list: text} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return nil, fmt.Errorf("write the overlay: %w", err)
		}
	}
	return []string{"-overlay", list}, nil
}

// profileSelf writes a CPU profile of the bench until end is called.
func (b *bench) profileSelf() (end func(), err error) {
	if b.profiles == "" {
		return func() {}, nil
	}
	file, err := os.Create(filepath.Join(b.profiles, "bench.pprof"))
	if err != nil {
		return nil, fmt.Errorf("make a profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("begin a profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}, nil
}

// endProfile waits until the server has written its profile.
func (s *server) endProfile() error {
	if s.profile == "" {
		return nil
	}
	if err := s.process.Process.Signal(syscall.SIGUSR1); err != nil {
		return fmt.Errorf("ask for the profile: %w", err)
	}
	for began := time.Now(); time.Since(began) < patience; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(s.profile); err == nil {
			return nil
		}
	}
	return fmt.Errorf("the server wrote no profile to %s", s.profile)
}
