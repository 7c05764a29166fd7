package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"purser/internal/check"
)

// checkedSite is a site of row 22.
type checkedSite struct {
	label string
	files []string
	body  []byte
}

var errNoMemory = errors.New("the system does not tell how much memory a process took")

// checking measures row 22: a whole process of purser check on a site, relative to yaml.v3 parsing the same text into
// nodes.
func (b *bench) checking(ctx context.Context) (err error) {
	binary := filepath.Join(b.dir, "purser")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", binary, "purser/cmd/purser")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build purser: %w\n%s", err, said)
	}
	sites, err := b.checkedSites()
	if err != nil {
		return err
	}
	s, err := b.start(ctx, "checking")
	if err != nil {
		return err
	}
	defer func() { err = s.stop(err) }()
	for _, site := range sites {
		b.sayf("row 22: %s", site.label)
		run := func() error { return checkOnce(ctx, binary, site.files...) }
		pairs := []compared{{
			row: 22, limit: 2, repeats: rarely, measured: run, against: func() error { return readNodes(site.body) },
			what: site.label + ": purser check, to yaml.v3 reading it into nodes",
		}, {
			row: 22, repeats: rarely, measured: run, against: func() error { return s.put(ctx, "site", site.body) },
			before: func() error { return s.send(ctx, http.MethodDelete, api+"/revisions", nil, io.Discard) },
			what:   site.label + ": purser check, to a PUT into an empty site, schemas compiled before",
		}}
		load := []string{"-c", pythonLoad, site.files[0]}
		if python := exec.CommandContext(ctx, "python3", load...); python.Run() == nil {
			pairs = append(pairs, compared{
				row: 22, repeats: rarely, measured: run,
				against: func() error { return exec.CommandContext(ctx, "python3", load...).Run() },
				what:    site.label + ": purser check, to PyYAML's C loader reading it",
			})
		}
		if err := b.compareAll(pairs); err != nil {
			return err
		}
		if err := b.checkAgain(ctx, site); err != nil {
			return err
		}
	}
	return b.checkMany(ctx, binary)
}

// checkedSites returns the sites of row 22, each of them one file: a real one, if available, and a generated one with
// as many documents.
func (b *bench) checkedSites() (sites []checkedSite, err error) {
	const documents = 383
	name := filepath.Join(b.shared, "corpus", "tm19-airskiff", "documents.yaml")
	if body, err := os.ReadFile(name); err == nil {
		sites = append(sites, checkedSite{"tm19-airskiff", []string{name}, body})
	}
	own := newSite(large(), documents)
	name = filepath.Join(b.dir, "own.yaml")
	body := append([]byte(checkPolicy+own.schema), own.body()...)
	if err := os.WriteFile(name, body, 0o600); err != nil {
		return nil, fmt.Errorf("write a site: %w", err)
	}
	return append(sites, checkedSite{fmt.Sprintf("%d x %s", documents, own.label), []string{name}, body}), nil
}

const checkPolicy = "---\nschema: deckhand/LayeringPolicy/v1\n" +
	"metadata: {schema: metadata/Control/v1, name: layering-policy}\ndata: {layerOrder: [global, site]}\n"

const pythonLoad = "import sys, yaml; list(yaml.load_all(open(sys.argv[1], 'rb'), yaml.CSafeLoader))"

func checkOnce(ctx context.Context, binary string, paths ...string) error {
	if said, err := exec.CommandContext(ctx, binary, append([]string{"check"}, paths...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("purser check: %w\n%.2000s", err, said)
	}
	return nil
}

// checkAgain measures the check that --watch makes after one document of a site, a single file, has changed.
func (b *bench) checkAgain(ctx context.Context, site checkedSite) error {
	checker := check.New(check.Options{})
	check := func(i int) error {
		changed := fmt.Sprintf("%s# changed %d\n", site.body, i)
		report, err := checker.Check(ctx, []check.File{{Name: "site.yaml", Text: []byte(changed)}})
		if err == nil && report.Documents < 2 {
			err = errOther
		}
		return err
	}
	if err := check(-1); err != nil {
		return err
	}
	took, err := medianTime(b.rounds, check)
	what := site.label + ": checked again after a change, as --watch does"
	b.add(22, took <= 100*time.Millisecond, "<= 100ms", what, short(took))
	return err
}

// checkMany measures a folder of many documents, each in its own file.
func (b *bench) checkMany(ctx context.Context, binary string) error {
	many := newSite(small(), b.wide)
	folder := filepath.Join(b.dir, "many")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	for i, text := range append(many.documents, checkPolicy+many.schema) {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%06d.yaml", i)), []byte(text), 0o600); err != nil {
			return fmt.Errorf("write a document: %w", err)
		}
	}
	cmd := exec.CommandContext(ctx, binary, "check", folder)
	took, err := timed(cmd.Run)
	if err != nil {
		return fmt.Errorf("purser check of many files: %w", err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errNoMemory
	}
	const limit, mib = 512, 1 << 10 // in KiB
	what := fmt.Sprintf("%d files of a document each: purser check", b.wide)
	b.add(22, took <= 5*time.Second, "<= 5s", what, short(took))
	b.add(22, usage.Maxrss <= limit*mib, "<= 512 MiB", what+", memory", fmt.Sprintf("%d MiB", usage.Maxrss/mib))
	return nil
}
