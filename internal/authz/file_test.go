package authz

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/files"
)

const (
	open   = "deckhand:list_revisions: '@'\n"
	closed = "deckhand:list_revisions: '!'\n"
	broken = "deckhand:list_revisions: 'role:a or'\n"
)

// stand is a policy file with its own clock and log.
type stand struct {
	*File
	t     *testing.T
	path  string
	clock time.Time
	logs  bytes.Buffer
}

// newStand opens a file whose text was last changed a minute ago.
func newStand(t *testing.T, text string) *stand {
	t.Helper()
	s := &stand{t: t, clock: time.Now().Truncate(time.Second)}
	s.path = filepath.Join(t.TempDir(), "policy.yaml")
	s.write(s.path, text, -time.Minute)
	file, err := Open(s.path, AdminsOnly, slog.New(slog.NewTextHandler(&s.logs, nil)), func() time.Time { return s.clock })
	if err != nil {
		t.Fatal(err)
	}
	s.File = file
	return s
}

// write writes a file with a modification time relative to the clock.
func (s *stand) write(path, text string, since time.Duration) {
	s.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	changed := s.clock.Add(since)
	if err := os.Chtimes(path, changed, changed); err != nil {
		s.t.Fatal(err)
	}
}

// after advances the clock and reports whether any caller may then list revisions.
func (s *stand) after(d time.Duration) bool {
	s.clock = s.clock.Add(d)
	return allows(s.Policy(), ListRevisions, nobody)
}

func (s *stand) errors() int { return strings.Count(s.logs.String(), "level=ERROR") }

func TestFile_isReadAgain(t *testing.T) {
	t.Parallel()
	s := newStand(t, closed)
	got := []bool{s.after(time.Hour)}
	s.write(s.path, open, -30*time.Second)
	got = append(got, s.after(999*time.Millisecond), s.after(time.Millisecond))
	s.write(s.path, closed, -20*time.Second)
	got = append(got, s.after(time.Second))
	if diff := cmp.Diff([]bool{false, false, true, false}, got); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(s.logs.String(), "changed and apply now"); n != 2 {
		t.Errorf("%d changes in the log:\n%s", n, &s.logs)
	}
}

func TestFile_sameTimeAndSize(t *testing.T) {
	t.Parallel()
	s := newStand(t, closed)
	next := s.path + ".next"
	s.write(next, open, -time.Minute) // only the inode differs
	if err := os.Rename(next, s.path); err != nil {
		t.Fatal(err)
	}
	if !s.after(time.Second) {
		t.Error("a file that was put in place of another one is not read")
	}
}

func TestFile_sameTimeOtherSize(t *testing.T) {
	t.Parallel()
	s := newStand(t, closed)
	s.write(s.path, open+"# longer\n", -time.Minute)
	if !s.after(time.Second) {
		t.Error("a file that has grown is not read")
	}
}

func TestFile_clockIsPutBack(t *testing.T) {
	t.Parallel()
	s := newStand(t, closed)
	s.write(s.path, open, -2*time.Hour)
	if !s.after(-time.Hour) {
		t.Error("a file is not looked at before the clock shows the old time again")
	}
}

func TestFile_symbolicLink(t *testing.T) {
	t.Parallel()
	s := newStand(t, closed)
	target := s.path + ".real"
	s.write(target, open, -time.Minute)
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, s.path); err != nil {
		t.Fatal(err)
	}
	if !s.after(time.Second) {
		t.Error("a file behind a link is not read")
	}
}

// A file that is being written is not used until it stays the same from one look to the next.
func TestFile_fresh(t *testing.T) {
	t.Parallel()
	s := newStand(t, closed)
	s.write(s.path, "", time.Second)
	got := []bool{s.after(time.Second)}
	s.write(s.path, "deckhand:list_rev", time.Second)
	got = append(got, s.after(time.Second))
	s.write(s.path, open, time.Second)
	got = append(got, s.after(time.Second), s.after(time.Second))
	s.write(s.path, closed, time.Hour) // modified by a wrong clock
	got = append(got, s.after(time.Second), s.after(time.Second))
	if diff := cmp.Diff([]bool{false, false, false, true, true, false}, got); diff != "" {
		t.Error(diff)
	}
	if s.errors() > 0 {
		t.Error(s.logs.String())
	}
}

func TestFile_brokenStaysAsItWas(t *testing.T) {
	t.Parallel()
	s := newStand(t, open)
	s.write(s.path, broken, -30*time.Second)
	got := []bool{s.after(time.Second), s.after(time.Second), s.after(time.Hour)}
	if s.errors() != 1 || !strings.Contains(s.logs.String(), "a check is missing at the end") {
		t.Errorf("not said once:\n%s", &s.logs)
	}
	s.write(s.path, broken+"#", -20*time.Second)
	got = append(got, s.after(time.Second))
	if s.errors() != 2 {
		t.Errorf("the second change is not said:\n%s", &s.logs)
	}
	s.write(s.path, closed, -10*time.Second)
	got = append(got, s.after(time.Second))
	if diff := cmp.Diff([]bool{true, true, true, true, false}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFile_missingStaysAsItWas(t *testing.T) {
	t.Parallel()
	s := newStand(t, open)
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	got := []bool{s.after(time.Second), s.after(time.Second)}
	if s.errors() != 1 || !strings.Contains(s.logs.String(), "no such file") {
		t.Errorf("not said once:\n%s", &s.logs)
	}
	s.write(s.path, closed, -10*time.Second)
	got = append(got, s.after(time.Second))
	if diff := cmp.Diff([]bool{true, true, false}, got); diff != "" {
		t.Error(diff)
	}
}

func TestOpen_refuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, text string) {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("broken", broken)
	write("large", strings.Repeat("#", MaxSize+1))
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"missing": "no such file or directory",
		"broken":  `line 1: rule "deckhand:list_revisions": character 10: a check is missing at the end`,
		"large":   "the file has more than 1048576 bytes",
		"pipe":    "it is not a regular file",
		".":       "it is not a regular file",
	} {
		file, err := Open(at(name), AdminsOnly, slog.New(slog.DiscardHandler), time.Now)
		if file != nil || err == nil {
			t.Fatalf("%s: %v, %v", name, file, err)
		}
		if diff := cmp.Diff("access rules "+at(name)+": "+want, err.Error()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestOpen_withoutFile(t *testing.T) {
	t.Parallel()
	file, err := Open("", WithRoles, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(registered, file.Policy().Rules()); diff != "" {
		t.Error(diff)
	}
}

func TestFile_concurrently(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	texts := []string{open, broken, closed, open + "#"}
	put := func(i int) {
		if err := os.WriteFile(path+".next", []byte(texts[i%len(texts)]), 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(path+".next", path); err != nil {
			t.Error(err)
		}
	}
	put(0)
	var ticks sync.Mutex
	clock := time.Now().Add(time.Hour)
	file, err := Open(path, AdminsOnly, slog.New(slog.DiscardHandler), func() time.Time {
		ticks.Lock()
		defer ticks.Unlock()
		clock = clock.Add(files.Interval)
		return clock
	})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				allows(file.Policy(), ListRevisions, admin)
			}
		})
	}
	for i := range 100 {
		put(i)
	}
	group.Wait()
	put(2)
	if allows(file.Policy(), ListRevisions, admin) {
		t.Error("the last change is not in force")
	}
}
