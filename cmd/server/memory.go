package main

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"purser/internal/budget"
)

// byteSize is a size in bytes, written as 512MiB, 1.5GiB or 536870912.
type byteSize int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *byteSize) UnmarshalText(text []byte) error {
	number, unit := string(text), 1.0
	for suffix, size := range map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if before, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = before, size
			break
		}
	}
	size, err := strconv.ParseFloat(number, 64)
	if size *= unit; err != nil || !(size >= 0 && size < math.MaxInt64) {
		return fmt.Errorf("%q is not a size such as 512MiB, 1.5GiB or 536870912", text)
	}
	*b = byteSize(size)
	return nil
}

const (
	minMemory     = 128 << 20
	defaultMemory = 1 << 30 // the largest default, which is enough for sites of 50,000 small documents
)

// memoryFrom returns the default of --memory: half of what is available, which leaves the rest to Postgres and other
// processes, but at least minMemory and at most defaultMemory.
func memoryFrom(available int64) byteSize {
	return byteSize(max(minMemory, min(defaultMemory, available/2)))
}

// withDefaults returns f with --memory and --ingest-memory set.
func (f limitFlags) withDefaults(available int64) limitFlags {
	const uploadParts, maxUploads = 4, 256 << 20
	if f.Memory == 0 {
		f.Memory = memoryFrom(available)
	}
	if f.IngestMemory == nil {
		f.IngestMemory = new(min(maxUploads, f.Memory/uploadParts))
	}
	return f
}

// cacheSize returns the size of each cache: there are four, and a fifth of twice the size.
func (f limitFlags) cacheSize() int { return int(f.Memory) / 12 }

// largeMemory returns the memory for all large requests in progress. Few of them need all that one may have.
func (f limitFlags) largeMemory() int64 { return max(budget.MaxBytes, int64(f.Memory)/2) }

// boundMemory sets the garbage collector's memory limit to seven eighths of --memory. The rest is for memory that the
// collector does not count, and for allocations while it runs. GOMEMLIMIT in the environment takes precedence.
func (f limitFlags) boundMemory() {
	const left = 8
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(f.Memory - f.Memory/left))
	}
}

// availableMemory returns the memory of the machine or, if that is less, of the process's cgroups, in bytes. root is
// the root of the file system. If the memory is unknown, it returns a very large number.
func availableMemory(root fs.FS) int64 {
	available := int64(math.MaxInt64)
	text, _ := fs.ReadFile(root, "proc/meminfo")
	var kilobytes int64
	if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kilobytes); err == nil && kilobytes > 0 {
		available = kilobytes << 10
	}
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		number, rest, _ := strings.Cut(strings.TrimSpace(line), ":") // number:controllers:path, see cgroups(7)
		switch controllers, group, _ := strings.Cut(rest, ":"); {
		case number == "0" && controllers == "": // version 2
			available = min(available, limitOf(root, "sys/fs/cgroup", group, "memory.max"))
		case controllers == "memory":
			available = min(available, limitOf(root, "sys/fs/cgroup/memory", group, "memory.limit_in_bytes"))
		}
	}
	return available
}

// limitOf returns the lowest limit of a cgroup and its ancestors. A container may not see its group under the host's
// name for it; then the root of the mount has the limit.
func limitOf(root fs.FS, mount, group, file string) int64 {
	limit := int64(math.MaxInt64)
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		text, _ := fs.ReadFile(root, path.Join(mount, at, file)) // "max" if there is none
		if size, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && size > 0 {
			limit = min(limit, size)
		}
		if at == "/" {
			return limit
		}
	}
}
