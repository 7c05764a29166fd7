package main

import (
	"math"
	"testing"
	"testing/fstest"
)

func TestAvailableMemory(t *testing.T) {
	t.Parallel()
	const machine = "MemTotal:       24689764 kB\nMemFree:        20000000 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is known": {nil, math.MaxInt64},
		"a machine":        {map[string]string{"proc/meminfo": machine}, 24689764 << 10},
		"version 2, in a container": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n",
		}, 512 << 20},
		"version 2, without a limit": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n",
		}, 24689764 << 10},
		"version 2, a limit above": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b.service\n", "sys/fs/cgroup/a/b.service/memory.max": "max\n",
			"sys/fs/cgroup/a/memory.max": "1073741824\n",
		}, 1 << 30},
		"version 1": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "8:pids:/\n4:memory:/a/b\n1:cpu:/x\n0::/\n",
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "268435456\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     "9223372036854771712\n",
		}, 256 << 20},
		"version 1, the path of the host in a container": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "4:memory:/docker/0123\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n",
		}, 256 << 20},
		"more than there is": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "9223372036854771712\n",
		}, 24689764 << 10},
		"damaged": {map[string]string{
			"proc/meminfo": "MemTotal:", "proc/self/cgroup": "0\n:\n0::", "sys/fs/cgroup/memory.max": "-1",
		}, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := fstest.MapFS{}
			for file, text := range c.files {
				root[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := availableMemory(root); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}

func TestByteSize_UnmarshalText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]byteSize{
		"536870912": 512 << 20, "512MiB": 512 << 20, "1.5GiB": 1536 << 20, "0.5KiB": 512,
		"": 0, "512MB": 0, "-1GiB": 0, "x": 0, "NaN": 0, "Inf": 0, "1e30GiB": 0, "MiB": 0,
	} {
		var got byteSize
		if err := got.UnmarshalText([]byte(text)); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
}

// All sizes follow from the memory, but that of uploads if it is set.
func TestLimitFlags_withDefaults(t *testing.T) {
	t.Parallel()
	said := byteSize(5)
	for name, c := range map[string]struct {
		flags          limitFlags
		available      int64
		memory, cached int
		uploads, large int64
	}{
		"a large machine": {limitFlags{}, 24 << 30, 1 << 30, 1 << 30 / 12, 256 << 20, 512 << 20},
		"a small one":     {limitFlags{}, 1 << 30, 512 << 20, 512 << 20 / 12, 128 << 20, 256 << 20},
		"a tiny one":      {limitFlags{}, 64 << 20, 128 << 20, 128 << 20 / 12, 32 << 20, 256 << 20},
		"unknown":         {limitFlags{}, math.MaxInt64, 1 << 30, 1 << 30 / 12, 256 << 20, 512 << 20},
		"memory said":     {limitFlags{Memory: 6 << 30}, 1 << 30, 6 << 30, 6 << 30 / 12, 256 << 20, 3 << 30},
		"uploads said":    {limitFlags{IngestMemory: &said}, 24 << 30, 1 << 30, 1 << 30 / 12, 5, 512 << 20},
	} {
		got := c.flags.withDefaults(c.available)
		if int(got.Memory) != c.memory || got.cacheSize() != c.cached || int64(*got.IngestMemory) != c.uploads ||
			got.largeMemory() != c.large {
			t.Errorf("%s: memory %d, caches %d, uploads %d, large requests %d", name, got.Memory, got.cacheSize(),
				*got.IngestMemory, got.largeMemory())
		}
	}
}
