package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// maxWork is the processor time that a hostile request may take, as a multiple of that for 2 MB of plain documents.
const maxWork = 20

// affords runs requests that must cost the server little. It measures processor time relative to that of a plain
// request to the same server, so that the speed and load of the machine do not matter. The server must not be used by
// others meanwhile.
func (s *server) affords(t *testing.T, do func()) {
	t.Helper()
	if s.unit == 0 {
		s.unit = s.spends(t, func() { s.takePlain(t) })
	}
	if work := s.spends(t, do); work > maxWork*s.unit {
		t.Errorf("it took %.1f times the work of 2 MB of plain documents, want at most %d", float64(work)/float64(s.unit), maxWork)
	}
}

// takePlain makes the server process 2 MB of documents without storing anything.
func (s *server) takePlain(t *testing.T) {
	t.Helper()
	var plain strings.Builder
	for i := range 200 {
		plain.WriteString(widget(fmt.Sprintf("plain-%d", i), "\n"+strings.Repeat("  - {key: value, list: [1, 2]}\n", 330)))
	}
	s.send(t, request{
		method: http.MethodPut, path: "buckets/plain/documents?dry-run=true", body: plain.String(), header: yamlBody(),
	}).is(t, http.StatusOK)
}

// spends returns the processor time that the server and its child processes spend during do.
func (s *server) spends(t *testing.T, do func()) time.Duration {
	t.Helper()
	before := s.processorTime(t)
	do()
	return s.processorTime(t) - before
}

// processorTime returns the processor time of the server so far, 0 if the system does not report it.
func (s *server) processorTime(t *testing.T) time.Duration {
	t.Helper()
	const tick = 10 * time.Millisecond // on all Linux systems
	const before, fields = 11, 4       // the name and 11 fields come before utime, stime and those of the children
	_, text, _ := bytes.Cut(procFile(s.process.Process.Pid, "stat"), []byte(") "))
	var taken time.Duration
	for i, field := range strings.Fields(string(text)) {
		if i < before || i >= before+fields {
			continue
		}
		ticks, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		taken += time.Duration(ticks) * tick
	}
	return taken
}

var peak = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// mostMemory returns the peak resident memory of the server in bytes, 0 if the system does not report it. It is only
// meaningful for a lean server.
func (s *server) mostMemory(t *testing.T) int {
	t.Helper()
	found := peak.FindSubmatch(procFile(s.process.Process.Pid, "status"))
	if found == nil {
		t.Log("this system does not tell how much memory a process has")
		return 0
	}
	kilobytes, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// procFile reads a file of a process in /proc. It returns nil on systems other than Linux.
func procFile(pid int, name string) []byte {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
	if err != nil {
		return nil
	}
	return text
}
