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
func (r *run) overlay() []string {
	if r.profiles == "" {
		return nil
	}
	target, err := filepath.Abs("cmd/server/bench_profiling_hook.go")
	must("find the server's sources", err)
	hook := r.writeFile("hook.go", profilingHook)
	list, err := json.Marshal(map[string]map[string]string{"Replace": {target: hook}})
	must("write the overlay", err)
	return []string{"-overlay", r.writeFile("overlay.json", list)}
}

// profileSelf writes a CPU profile of the bench until the run ends.
func (r *run) profileSelf() {
	if r.profiles == "" {
		return
	}
	file, err := os.Create(filepath.Join(r.profiles, "bench.pprof"))
	must("make a profile", err)
	must("begin a profile", pprof.StartCPUProfile(file))
	r.cleanup(func() error {
		pprof.StopCPUProfile()
		return file.Close()
	})
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
