package store_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
)

// packed returns the archive of a package.
func packed(t failer, name string, version int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"manifest.yaml": fmt.Sprintf("Type: Library\nFullName: %s\nVersion: %d\n", name, version),
	} {
		part, err := w.Create(name)
		if err != nil {
			t.Fatalf("pack: %v", err)
		}
		_, _ = part.Write([]byte(text))
	}
	if err := w.Close(); err != nil {
		t.Fatalf("pack: %v", err)
	}
	return b.Bytes()
}

// putPackage stores a package.
func (p *pruner) putPackage(bucket, name string, version int) {
	p.Helper()
	written, _, err := p.site.PutPackage(context.Background(), bucket, name, packed(p, name, version), revisions.Options{})
	p.wrote(written, err)
}

// archives returns the packages of the revisions with their archives, and checks that no other archive is stored.
func (p *pruner) archives() (all string) {
	p.Helper()
	p.check()
	ctx, distinct := context.Background(), map[string]bool{}
	list, err := p.site.List(ctx, queries.Query{Page: queries.Page{Limit: -1}})
	if err != nil {
		p.Fatalf("list: %v", err)
	}
	var lines []string
	for _, revision := range list.Revisions {
		packages, err := p.site.Packages(ctx, revision.ID)
		if err != nil {
			p.Fatalf("packages of %d: %v", revision.ID, err)
		}
		line := []string{strconv.FormatInt(revision.ID, 10)}
		for _, pkg := range packages {
			archive, err := p.site.Archive(ctx, revision.ID, pkg)
			if err != nil {
				p.Fatalf("archive of %s in %d: %v", pkg.Name, revision.ID, err)
			}
			version := slices.IndexFunc([]int{0, 1, 2, 3}, func(v int) bool { return bytes.Equal(archive, packed(p, pkg.Name, v)) })
			line = append(line, fmt.Sprintf("%s/%s=%d", pkg.Bucket, pkg.Name, version))
			distinct[string(archive)] = true
		}
		lines = append(lines, strings.Join(line, " "))
	}
	var stored int
	if err := p.conn.QueryRow(ctx, `SELECT count(*) FROM archives`).Scan(&stored); err != nil {
		p.Fatalf("count: %v", err)
	}
	if stored != len(distinct) {
		p.Fatalf("%d archives are stored, the revisions have %d:\n%s", stored, len(distinct), strings.Join(lines, "\n"))
	}
	return strings.Join(lines, "; ")
}

// An archive is stored once for all revisions and buckets that have it, and as long as there is one of them.
func TestStore_Archives(t *testing.T) {
	t.Parallel()
	p := newPruner(t)
	is := func(want string) {
		t.Helper()
		if got := p.archives(); got != want {
			t.Fatalf("packages %s, want %s", got, want)
		}
	}
	p = p.begin(t)
	p.putPackage("a", "x.A", 1)
	p.putPackage("a", "x.A", 2)
	p.putPackage("b", "x.B", 1)
	p.put("b", "")
	p.putPackage("c", "x.B", 1) // the same content in another bucket
	is("1 a/x.A=1; 2 a/x.A=2; 3 a/x.A=2 b/x.B=1; 4 a/x.A=2; 5 a/x.A=2 c/x.B=1")
	p.wrote(p.site.Rollback(t.Context(), 1, revisions.Options{}))
	is("1 a/x.A=1; 2 a/x.A=2; 3 a/x.A=2 b/x.B=1; 4 a/x.A=2; 5 a/x.A=2 c/x.B=1; 6 a/x.A=1")
	p.prune(2, func(int) bool { return true })
	is("5 a/x.A=2 c/x.B=1; 6 a/x.A=1")
	p.wrote(p.site.Rollback(t.Context(), 5, revisions.Options{})) // by the server that has not pruned
	is("5 a/x.A=2 c/x.B=1; 6 a/x.A=1; 7 a/x.A=2 c/x.B=1")
	p.prune(1, func(int) bool { return true })
	is("7 a/x.A=2 c/x.B=1")
	p.put("c", "")
	p.prune(1, func(int) bool { return true })
	is("8 a/x.A=2")
	p = p.begin(t) // purges
	is("")
	p.putPackage("a", "x.A", 2)
	is("1 a/x.A=2")
}

// A change that is refused, or only tried, stores no archive.
func TestStore_Archives_refused(t *testing.T) {
	t.Parallel()
	p := newPruner(t)
	p = p.begin(t)
	p.putPackage("a", "x.A", 1)
	for name, options := range map[string]revisions.Options{
		"refused": {Expected: revisions.Expected{{Revision: math.MaxInt64}}}, "tried": {DryRun: true},
	} {
		_, _, err := p.site.PutPackage(t.Context(), "a", "x.A", packed(t, "x.A", 2), options)
		if (err == nil) != options.DryRun {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := p.site.PutPackage(t.Context(), "b", "x.A", packed(t, "x.A", 3), revisions.Options{}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("in another bucket: %v", err)
	}
	if got := p.archives(); got != "1 a/x.A=1" {
		t.Errorf("packages %s", got)
	}
}

// A package is a document of the site, which a limit counts.
func TestStore_Archives_siteDocuments(t *testing.T) {
	t.Parallel()
	p := newPruner(t)
	p = p.begin(t)
	p.putPackage("a", "x.A", 1)
	p.site.SiteDocuments = 1
	p.putPackage("a", "x.A", 2)
	_, _, err := p.site.PutPackage(t.Context(), "a", "x.B", packed(t, "x.B", 1), revisions.Options{})
	if full, ok := errors.AsType[*fault.Fault](err); !ok || full.Type != "SiteFull" {
		t.Errorf("one too many: %v", err)
	}
}

// A change that relies on an archive may come between any steps of another server's prune that deletes it: the package
// comes back with its archive, and a document without one is refused.
func TestStore_Archives_prunedBetween(t *testing.T) {
	t.Parallel()
	all := newPruner(t)
	for name, change := range map[string]func(s *changes.Service, text []byte) (changes.Written, error){
		"package": func(s *changes.Service, _ []byte) (changes.Written, error) {
			written, _, err := s.PutPackage(t.Context(), "a", "x.A", packed(t, "x.A", 1), revisions.Options{})
			return written, err
		},
		"document": func(s *changes.Service, text []byte) (changes.Written, error) {
			return s.Put(t.Context(), "a", text, document.YAML, revisions.Options{})
		},
	} {
		refused, steps := 0, 1
		for planned := 0; planned <= steps; planned++ {
			for appended := max(1, planned); appended <= steps; appended = laterStep(appended, steps) {
				p := all.begin(t)
				p.putPackage("a", "x.A", 1)
				selected, err := p.site.Documents(t.Context(), 1, queries.Selection{Page: queries.Page{Limit: -1}})
				if err != nil || len(selected.Documents) != 1 {
					t.Fatalf("%v, %v", selected, err)
				}
				doc := selected.Documents[0]
				text := fmt.Appendf(nil, `{"schema": %q, "metadata": %s, "data": %s}`, doc.Schema, doc.Metadata, doc.Data)
				p.put("a", "")
				p.put("b", widget("w", 1))
				changed := p.planned(func(s *changes.Service) (changes.Written, error) { return change(s, text) })
				if planned == 0 {
					changed.plan()
				}
				steps = p.prune(1, func(step int) bool {
					if step == planned {
						changed.plan()
					}
					if step == appended {
						changed.append()
					}
					return true
				})
				if name == "document" && fault.KindOf(changed.err) == fault.Invalid {
					refused++
				} else {
					p.wrote(changed.written, changed.err)
				}
				p.archives()
			}
		}
		if name == "document" && refused == 0 {
			t.Error("no document was refused")
		}
	}
}
