package files_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/files"
)

// stand is two watched files with a clock. The value is their joined texts; texts with "bad" cannot be parsed.
type stand struct {
	*files.Watched[string]

	t        *testing.T
	paths    []string
	clock    time.Time
	parses   int
	failing  error // of any text
	reported []string
}

func newStand(t *testing.T, change func(*files.Source[string])) *stand {
	t.Helper()
	dir := t.TempDir()
	s := &stand{t: t, clock: time.Now(), paths: []string{filepath.Join(dir, "a"), "", filepath.Join(dir, "b")}}
	s.write(0, "a1")
	s.write(2, "b1")
	source := files.Source[string]{
		Paths: s.paths, MaxBytes: 10, Now: func() time.Time { return s.clock },
		Parse: func(texts [][]byte) (string, error) {
			s.parses++
			text := string(bytes.Join(texts, []byte("+")))
			if strings.Contains(text, "bad") {
				return "", fmt.Errorf("unusable: %s", text)
			}
			return text, s.failing
		},
		Report: func(value string, err error) { s.reported = append(s.reported, fmt.Sprint(value, " ", err)) },
	}
	if change != nil {
		change(&source)
	}
	watched, err := files.Watch(source)
	if err != nil {
		t.Fatal(err)
	}
	s.Watched = watched
	return s
}

// write writes a file with a modification time in the past.
func (s *stand) write(i int, text string) {
	s.t.Helper()
	old := s.clock.Add(-time.Hour)
	err := errors.Join(os.WriteFile(s.paths[i], []byte(text), 0o600), os.Chtimes(s.paths[i], old, old))
	if err != nil {
		s.t.Fatal(err)
	}
}

// after returns the value after some time.
func (s *stand) after(d time.Duration) string {
	s.clock = s.clock.Add(d)
	return s.Current()
}

func (s *stand) wantReported(want ...string) {
	s.t.Helper()
	for i, line := range s.reported {
		s.reported[i] = strings.ReplaceAll(line, s.paths[0], "A")
	}
	if diff := cmp.Diff(want, s.reported); diff != "" {
		s.t.Error(diff)
	}
}

func TestWatched_Current(t *testing.T) {
	t.Parallel()
	const same, changed = "a1++b1", "a2++b1"
	for name, c := range map[string]struct {
		change func(*stand) error
		after  time.Duration
		want   string
	}{
		"unchanged":            {func(*stand) error { return nil }, time.Hour, same},
		"too early":            {func(s *stand) error { s.write(0, "a2"); return nil }, files.Interval - 1, same},
		"same size and time":   {func(s *stand) error { s.write(0, "a2"); return nil }, files.Interval, changed},
		"clock was put back":   {func(s *stand) error { s.write(0, "a2"); return nil }, -time.Minute, changed},
		"second file":          {func(s *stand) error { s.write(2, "b2"); return nil }, files.Interval, "a1++b2"},
		"link put in place":    {relink, files.Interval, changed},
		"bad":                  {func(s *stand) error { s.write(0, "bad"); return nil }, files.Interval, same},
		"too large":            {func(s *stand) error { s.write(0, "0123456789a"); return nil }, files.Interval, same},
		"gone":                 {func(s *stand) error { return os.Remove(s.paths[0]) }, files.Interval, same},
		"text from one to two": {func(s *stand) error { s.write(0, "a1b"); s.write(2, "1"); return nil }, files.Interval, "a1b++1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t, nil)
			if err := c.change(s); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, s.after(c.after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func relink(s *stand) error {
	s.write(0, "a2")
	return errors.Join(os.Rename(s.paths[0], s.paths[0]+".real"), os.Symlink(s.paths[0]+".real", s.paths[0]))
}

// Each change, valid or not, is reported once, and an unchanged text is not parsed again.
func TestWatched_Report(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	look := func() {
		for range 3 {
			s.after(files.Interval)
		}
	}
	for _, text := range []string{"a2", "bad", "bad2", "a2", "a1"} {
		s.write(0, text)
		look()
	}
	if s.parses != 6 {
		t.Errorf("parsed %d times, want once for each change", s.parses)
	}
	if err := os.Rename(s.paths[0], s.paths[0]+".gone"); err != nil {
		t.Fatal(err)
	}
	look()
	s.write(0, "a1")
	look()
	if s.parses != 6 {
		t.Error("a file that came back as it was is parsed again")
	}
	s.wantReported("a2++b1 <nil>", "a2++b1 unusable: bad++b1", "a2++b1 unusable: bad2++b1", "a2++b1 <nil>", "a1++b1 <nil>",
		"a1++b1 A: no such file or directory", "a1++b1 <nil>")
}

// A text that fails for a temporary reason is parsed again after a while and reported once.
func TestWatched_Retry(t *testing.T) {
	t.Parallel()
	s := newStand(t, func(source *files.Source[string]) { source.Retry = 10 * time.Second })
	s.failing = errors.New("no answer")
	s.write(0, "a2")
	got := []string{s.after(time.Second), s.after(9 * time.Second), s.after(time.Second)}
	if s.parses != 3 {
		t.Errorf("parsed %d times", s.parses)
	}
	s.failing = nil
	got = append(got, s.after(9*time.Second), s.after(time.Second))
	if diff := cmp.Diff([]string{"a1++b1", "a1++b1", "a1++b1", "a1++b1", "a2++b1"}, got); diff != "" {
		t.Error(diff)
	}
	s.wantReported("a1++b1 no answer", "a2++b1 <nil>")
}

func TestWatched_Settle(t *testing.T) {
	t.Parallel()
	s := newStand(t, func(source *files.Source[string]) { source.Settle = true })
	written := func(text string) {
		s.write(0, text)
		now := s.clock.Add(time.Second)
		if err := os.Chtimes(s.paths[0], now, now); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, text := range []string{"", "a", "a2", "a2", "a2"} {
		written(text)
		got = append(got, s.after(time.Second))
	}
	if diff := cmp.Diff([]string{"a1++b1", "a1++b1", "a1++b1", "a2++b1", "a2++b1"}, got); diff != "" {
		t.Error(diff)
	}
	s.wantReported("a2++b1 <nil>")
}

func TestWatched_Latest(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.write(0, "a2")
	if got := s.Latest(); got != "a2++b1" {
		t.Errorf("got %s", got)
	}
	s.write(0, "bad")
	s.Latest()
	s.write(0, "a3")
	if got := s.Latest(); got != "a2++b1" {
		t.Errorf("a file that cannot be used is looked at again at once: %s", got)
	}
	s.clock = s.clock.Add(files.Interval)
	if got := s.Latest(); got != "a3++b1" {
		t.Errorf("got %s", got)
	}
}

func TestWatch_refuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make    func(path string) error
		private bool
		want    string
	}{
		"missing":   {func(string) error { return nil }, false, "PATH: no such file or directory"},
		"directory": {func(p string) error { return os.Mkdir(p, 0o700) }, false, "PATH: it is not a regular file"},
		"large":     {func(p string) error { return os.WriteFile(p, make([]byte, 11), 0o600) }, false, "PATH: the file has more than 10 bytes"},
		"bad":       {func(p string) error { return os.WriteFile(p, []byte("bad"), 0o600) }, false, "bad"},
		"public":    {func(p string) error { return os.WriteFile(p, []byte("all"), 0o644) }, false, "all"},
		"group":     {func(p string) error { return os.WriteFile(p, nil, 0o640) }, true, "PATH: it is open to others (mode 0640): chmod 600 PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "file")
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			source := files.Source[string]{
				Paths: []string{path}, MaxBytes: 10, Now: time.Now,
				Parse: func(texts [][]byte) (string, error) { return "", errors.New(string(texts[0])) },
			}
			if c.private {
				source.Private = []string{path}
			}
			_, err := files.Watch(source)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(c.want, strings.ReplaceAll(err.Error(), path, "PATH")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Readers see complete texts in the order in which they were written, and finally the last one.
func TestWatched_concurrent(t *testing.T) {
	t.Parallel()
	path, clock, start := filepath.Join(t.TempDir(), "n"), atomic.Int64{}, time.Now()
	put := func(n int) {
		if err := files.Replace(path, []byte(strconv.Itoa(n))); err != nil {
			t.Error(err)
		}
	}
	put(0)
	watched, err := files.Watch(files.Source[int]{
		Paths: []string{path}, MaxBytes: 10,
		Now:   func() time.Time { return start.Add(time.Duration(clock.Add(1)) * files.Interval) },
		Parse: func(texts [][]byte) (int, error) { return strconv.Atoi(string(texts[0])) },
		Report: func(_ int, err error) {
			if err != nil {
				t.Error(err)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	const last = 50
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for n, before := 0, 0; n < 300; n, before = n+1, watched.Current() {
				if now := watched.Current(); now < before {
					t.Errorf("%d after %d", now, before)
				}
			}
		})
	}
	for n := range last {
		put(n + 1)
	}
	readers.Wait()
	if got := watched.Latest(); got != last {
		t.Errorf("in the end %d", got)
	}
}
