package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Two builds of a commit are identical and contain no path of this machine. (.ci/run compares those for Linux, packages
// included: they take longer.)
func TestRelease_reproducible(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	var sums []string
	var names []string
	for range 2 {
		r := &release{version: "v1.2.3", out: t.TempDir()}
		if err := r.make(t.Context(), []string{"windows/amd64"}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(text))
		names = names[:0]
		for name, text := range contents(t, r.out) {
			names = append(names, name)
			if bytes.Contains(text, []byte(root)) || bytes.Contains(text, []byte(r.work)) {
				t.Errorf("%s holds a path of this machine", name)
			}
		}
	}
	if diff := cmp.Diff(sums[0], sums[1]); diff != "" {
		t.Errorf("two builds differ:\n%s", diff)
	}
	for _, want := range []string{
		"purser_1.2.3_windows_amd64/purser.exe", "purser_1.2.3_windows_amd64/README.md",
		"purser_1.2.3_windows_amd64/man/purser-push.1", "purser_1.2.3_windows_amd64/completions/_purser",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing from %q", want, names)
		}
	}
}

// contents returns the files in the archives of a folder.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		switch {
		case err != nil:
			t.Fatal(err)
		case strings.HasSuffix(entry.Name(), ".zip"):
			z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range z.File {
				opened, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				files[f.Name], err = io.ReadAll(opened)
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return files
}

// The chart of a release has its version, and installs its image.
func TestRelease_chart(t *testing.T) {
	t.Chdir("../..")
	r := &release{version: "v1.2.3-5-gabcdef", out: t.TempDir(), at: time.Unix(1700000000, 0)}
	if err := r.chart(); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Open(filepath.Join(r.out, "purser-chart-1.2.3+5.gabcdef.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for from := tar.NewReader(unzipped); ; {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		text, readErr := io.ReadAll(from)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		texts[header.Name] = string(text)
	}
	for _, want := range []string{"\nversion: 1.2.3+5.gabcdef\n", "\nappVersion: \"1.2.3-5-gabcdef\"\n"} {
		if !strings.Contains(texts["purser/Chart.yaml"], want) {
			t.Errorf("Chart.yaml lacks %q:\n%s", want, texts["purser/Chart.yaml"])
		}
	}
	for _, name := range []string{"values.yaml", "values.schema.json", "templates/deployment.yaml"} {
		if texts["purser/"+name] == "" {
			t.Errorf("there is no %s", name)
		}
	}
}

func TestPackageVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"1.2.3": "1.2.3", "v1.2.3": "1.2.3", "v1.2.3-5-gabcdef": "1.2.3+5.gabcdef", "abcdef-dirty": "0.0.0+abcdef.dirty",
		"1.2.3-dirty": "1.2.3+dirty", "unknown": "0.0.0+unknown",
	} {
		if got := packageVersion(version); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

// Archives do not depend on when they are created, or by whom.
func TestTarball_reproducible(t *testing.T) {
	t.Parallel()
	r := &release{at: time.Unix(1700000000, 0)}
	var b bytes.Buffer
	if err := r.tarball(&b, "purser", []file{{"bin/purser", 0o755, []byte("program")}, {"README.md", 0o644, nil}}); err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(unzipped); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %o %d %d:%d:%s", header.Name, header.Mode, header.ModTime.Unix(), header.Uid, header.Gid,
			header.Uname))
	}
	want := []string{"purser/bin/purser 755 1700000000 0:0:", "purser/README.md 644 1700000000 0:0:"}
	if diff := cmp.Diff(want, got); diff != "" || !unzipped.ModTime.IsZero() {
		t.Errorf("the archive (-want +got):\n%s\nmade at %v", diff, unzipped.ModTime)
	}
}
