// Command dist builds a release, from the root of a clone:
//
//	go run ./tools/dist -version 1.2.3
//
// dist/ then has an archive for each platform, for Linux also a .deb and an .rpm of the command and of the server and a
// container image of the server, the Helm chart, and SHA256SUMS. Builds are reproducible: times are SOURCE_DATE_EPOCH,
// or the commit's, and no file contains a path of this machine. Windows gets only the command.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := &release{}
	platforms := "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"
	flag.StringVar(&r.version, "version", "", "the version; without it, what git describe says")
	flag.StringVar(&r.out, "out", "dist", "folder to write to, which is emptied before")
	flag.BoolVar(&r.packaged, "packages", true, "make .deb and .rpm packages and container images too")
	flag.StringVar(&platforms, "platforms", platforms, "platforms to build for")
	flag.Parse()
	if err := r.make(ctx, strings.Split(platforms, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

// release is a release that is being built.
type release struct {
	version, out, work string
	packaged           bool
	at                 time.Time
}

func (r *release) make(ctx context.Context, platforms []string) (err error) {
	if r.version == "" {
		if r.version, err = output(ctx, "git", "describe", "--tags", "--always", "--dirty"); err != nil {
			return err
		}
	}
	if r.at, err = moment(ctx); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "purser-dist-"); err != nil {
		return fmt.Errorf("make a folder to work in: %w", err)
	}
	defer os.RemoveAll(r.work) //nolint:errcheck // the next boot does
	if err := os.RemoveAll(r.out); err != nil {
		return fmt.Errorf("empty the folder: %w", err)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil { //nolint:gosec // a release is for everybody
		return fmt.Errorf("make the folder: %w", err)
	}
	shared, err := r.shared(ctx)
	if err != nil {
		return err
	}
	for _, platform := range platforms {
		goos, goarch, _ := strings.Cut(platform, "/")
		if err := r.platform(ctx, goos, goarch, shared); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
	}
	if err := r.chart(); err != nil {
		return err
	}
	return r.sums()
}

// moment returns the modification time of all files in the release.
func moment(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = output(ctx, "git", "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// file is a file of an archive.
type file struct {
	name string // with slashes
	mode fs.FileMode
	text []byte
}

// shared returns the files that are the same on all platforms: documentation, manual pages, completions.
func (r *release) shared(ctx context.Context) ([]file, error) {
	purser := filepath.Join(r.work, "purser")
	if err := r.build(ctx, "", "", "./cmd/purser", purser); err != nil {
		return nil, err
	}
	var files []file
	for _, name := range []string{"README.md", "CHANGELOG.md", "openapi.yaml"} {
		text, err := os.ReadFile(name) //nolint:gosec // our own
		if err != nil {
			return nil, fmt.Errorf("read the documentation: %w", err)
		}
		files = append(files, file{name, 0o644, text})
	}
	for shell, name := range map[string]string{"bash": "purser.bash", "zsh": "_purser", "fish": "purser.fish"} {
		text, err := output(ctx, purser, "completion", shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"completions/" + name, 0o644, []byte(text + "\n")})
	}
	pages := filepath.Join(r.work, "man")
	if _, err := output(ctx, purser, "man", pages); err != nil {
		return nil, err
	}
	found, err := filepath.Glob(filepath.Join(pages, "*.1"))
	for _, page := range found {
		text, err := os.ReadFile(page) //nolint:gosec // just written
		if err != nil {
			return nil, fmt.Errorf("read a manual page: %w", err)
		}
		files = append(files, file{"man/" + filepath.Base(page), 0o644, text})
	}
	return files, errors.Join(err, os.Remove(purser))
}

// platform creates the archive of a platform and, for Linux, the packages.
func (r *release) platform(ctx context.Context, goos, goarch string, shared []file) error {
	programs := map[string]string{"purser": "./cmd/purser", "purser-server": "./cmd/server"}
	suffix := ""
	if goos == "windows" {
		suffix = ".exe"
		delete(programs, "purser-server")
	}
	files := slices.Clone(shared)
	for name, source := range programs {
		path := r.program(goos, goarch, name)
		if err := r.build(ctx, goos, goarch, source, path); err != nil {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // just built
		if err != nil {
			return fmt.Errorf("read the program: %w", err)
		}
		files = append(files, file{name + suffix, 0o755, text})
	}
	if goos == "linux" {
		unit, err := os.ReadFile("docs/purser.service")
		if err != nil {
			return fmt.Errorf("read the unit: %w", err)
		}
		files = append(files, file{"purser.service", 0o644, unit})
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	name := fmt.Sprintf("purser_%s_%s_%s", strings.TrimPrefix(r.version, "v"), goos, goarch)
	archive, extension := r.tarball, ".tar.gz"
	if goos == "windows" {
		archive, extension = r.zip, ".zip"
	}
	var b bytes.Buffer
	if err := archive(&b, name, files); err != nil {
		return fmt.Errorf("make the archive: %w", err)
	}
	err := os.WriteFile(filepath.Join(r.out, name+extension), b.Bytes(), 0o644) //nolint:gosec // for everybody
	if err == nil && goos == "linux" && r.packaged {
		err = errors.Join(r.packages(ctx, goarch, files), r.image(ctx, goarch, r.program(goos, goarch, "purser-server")))
	}
	return err
}

// program returns the path of a built program.
func (r *release) program(goos, goarch, name string) string {
	return filepath.Join(r.work, goos+"-"+goarch+"-"+name)
}

// build builds a program like make build: static, without paths of this machine or the state of the clone.
func (r *release) build(ctx context.Context, goos, goarch, source, path string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", //nolint:gosec // our own
		"-s -w -X runtime.godebugDefault=adaptivestackstart=0 -X main.version="+r.version, "-o", path, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if goos != "" {
		cmd.Env = append(cmd.Env, "GOOS="+goos, "GOARCH="+goarch)
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", source, err, said)
	}
	return nil
}

func (r *release) tarball(w io.Writer, folder string, files []file) error {
	zipped := gzip.NewWriter(w)
	t := tar.NewWriter(zipped)
	for _, f := range files {
		header := &tar.Header{
			Name: folder + "/" + f.name, Mode: int64(f.mode), Size: int64(len(f.text)), ModTime: r.at, Format: tar.FormatUSTAR,
		}
		if err := t.WriteHeader(header); err != nil {
			return err //nolint:wrapcheck // platform does
		}
		if _, err := t.Write(f.text); err != nil {
			return err //nolint:wrapcheck // platform does
		}
	}
	return errors.Join(t.Close(), zipped.Close())
}

func (r *release) zip(w io.Writer, folder string, files []file) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		header := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: r.at}
		header.SetMode(f.mode)
		entry, err := z.CreateHeader(header)
		if err != nil {
			return err //nolint:wrapcheck // platform does
		}
		if _, err := entry.Write(f.text); err != nil {
			return err
		}
	}
	return z.Close() //nolint:wrapcheck // platform does
}

// packages creates the packages of an architecture with nfpm, in a folder with all their files.
func (r *release) packages(ctx context.Context, goarch string, files []file) error {
	stage := filepath.Join(r.work, "stage-"+goarch)
	for _, name := range []string{"environment", "postinstall", "preremove", "postremove"} {
		text, err := os.ReadFile(filepath.Join("tools/nfpm/files", name)) //nolint:gosec // our own
		if err != nil {
			return fmt.Errorf("read what packages hold: %w", err)
		}
		files = append(files, file{name, 0o644, text})
	}
	for _, f := range files {
		switch {
		case f.name == "purser.service":
			f.text = bytes.ReplaceAll(f.text, []byte("/usr/local/bin"), []byte("/usr/bin"))
		case strings.HasPrefix(f.name, "man/"):
			f.name += ".gz"
			f.text = zipped(f.text)
		}
		path := filepath.Join(stage, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("lay out what packages hold: %w", err)
		}
		if err := os.WriteFile(path, f.text, 0o600); err != nil {
			return fmt.Errorf("lay out what packages hold: %w", err)
		}
	}
	nfpm, err := r.tool(ctx, "nfpm", "-modfile=tools/nfpm/go.mod", "github.com/goreleaser/nfpm/v2/cmd/nfpm")
	if err != nil {
		return err
	}
	out, err := filepath.Abs(r.out)
	if err != nil {
		return fmt.Errorf("find the folder: %w", err)
	}
	for _, name := range []string{"purser", "purser-server"} {
		config, err := filepath.Abs(filepath.Join("tools/nfpm", name+".yaml"))
		if err != nil {
			return fmt.Errorf("find what a package holds: %w", err)
		}
		for _, kind := range []string{"deb", "rpm"} {
			cmd := exec.CommandContext(ctx, nfpm, "package", "-f", config, "-p", kind, "-t", out) //nolint:gosec // our own
			cmd.Dir = stage
			cmd.Env = append(os.Environ(), "ARCH="+goarch, "VERSION="+packageVersion(r.version),
				"MAINTAINER="+cmp.Or(os.Getenv("MAINTAINER"), "Purser <purser@localhost>"),
				"SOURCE_DATE_EPOCH="+strconv.FormatInt(r.at.Unix(), 10))
			if said, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("package %s as %s: %w\n%s", name, kind, err, said)
			}
		}
	}
	return nil
}

// image creates the container image of a server. The program that does has a module of its own.
func (r *release) image(ctx context.Context, goarch, server string) error {
	program, err := r.tool(ctx, "image", "-C", "tools/image", ".")
	if err != nil {
		return err
	}
	version := strings.TrimPrefix(r.version, "v")
	out := filepath.Join(r.out, fmt.Sprintf("purser-server_%s_linux_%s.oci.tar", version, goarch))
	_, err = output(ctx, program, "-server", server, "-arch", goarch, "-version", imageTag(r.version), "-out", out,
		"-at", strconv.FormatInt(r.at.Unix(), 10))
	return err
}

// chart creates the archive of the Helm chart, as helm package does, with the versions of the release and of its image.
func (r *release) chart() error {
	const folder = "deploy/helm"
	var files []file
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // our own
		name := filepath.ToSlash(strings.TrimPrefix(path, folder+string(filepath.Separator)))
		files = append(files, file{name, 0o644, text})
		return err //nolint:wrapcheck // it names the file
	})
	if err != nil {
		return fmt.Errorf("read the chart: %w", err)
	}
	version := packageVersion(r.version)
	for i, f := range files {
		if f.name == "Chart.yaml" {
			files[i].text = bytes.ReplaceAll(bytes.ReplaceAll(f.text, []byte("appVersion: 0.0.0"),
				fmt.Appendf(nil, "appVersion: %q", imageTag(r.version))), []byte("\nversion: 0.0.0"), []byte("\nversion: "+version))
		}
	}
	var b bytes.Buffer
	if err := r.tarball(&b, "purser", files); err != nil {
		return fmt.Errorf("make the archive of the chart: %w", err)
	}
	path := filepath.Join(r.out, "purser-chart-"+version+".tgz")
	return os.WriteFile(path, b.Bytes(), 0o644) //nolint:wrapcheck,gosec // it names the file, which is for everybody
}

// imageTag returns the tag of the image of a version. Tags may have no plus.
func imageTag(version string) string {
	return strings.ReplaceAll(strings.TrimPrefix(version, "v"), "+", "-")
}

// tool builds a program that makes a part of the release, once, and returns its path. args follow go build.
func (r *release) tool(ctx context.Context, name string, args ...string) (string, error) {
	path := filepath.Join(r.work, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	last := len(args) - 1
	args = append([]string{"build"}, append(args[:last:last], "-o", path, args[last])...)
	_, err := output(ctx, "go", args...)
	return path, err
}

func zipped(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text) // to memory
	_ = w.Close()        // the same
	return b.Bytes()
}

var released = regexp.MustCompile(`^(\d+\.\d+\.\d+)(.*)$`)

// packageVersion returns a version that dpkg and rpm accept, and that sorts after the previous release: 1.2.3-5-gabcdef
// becomes 1.2.3+5.gabcdef, and abcdef without a release becomes 0.0.0+abcdef.
func packageVersion(version string) string {
	version = strings.TrimPrefix(version, "v")
	base, rest := "0.0.0", "-"+version
	if parts := released.FindStringSubmatch(version); parts != nil {
		base, rest = parts[1], parts[2]
	}
	if rest = strings.ReplaceAll(strings.TrimLeft(rest, "-+."), "-", "."); rest == "" {
		return base
	}
	return base + "+" + rest
}

// sums writes SHA256SUMS.
func (r *release) sums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return fmt.Errorf("list the release: %w", err)
	}
	var b strings.Builder
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(r.out, entry.Name()))
		if err != nil {
			return fmt.Errorf("read the release: %w", err)
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), entry.Name())
	}
	path := filepath.Join(r.out, "SHA256SUMS")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil { //nolint:gosec // for everybody
		return fmt.Errorf("write the sums: %w", err)
	}
	return nil
}

// output runs a program and returns its output without the last line break.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // our own
	text, err := cmd.Output()
	if err != nil {
		said := ""
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			said = "\n" + string(failed.Stderr)
		}
		return "", fmt.Errorf("%s %s: %w%s", name, strings.Join(args, " "), err, said)
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}
