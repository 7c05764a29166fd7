package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

const (
	pagesTime = 300 * time.Millisecond // for the pages of the newest revision
	pagesSize = 150 << 10              // bytes of a page, without the image of a graph
)

// pages measures row 25: the size of the pages about the newest revision, and the time that the server takes for them
// and the files that they embed, on a site of 430 documents and on a large one.
func (b *bench) pages(ctx context.Context) error {
	site, err := os.ReadFile(filepath.Join(b.shared, "corpus", "tm19-airsloop", "documents.yaml"))
	label := "tm19-airsloop, 430 documents"
	if errors.Is(err, fs.ErrNotExist) {
		site, label, err = layeredSite(), "a site of our own in layers", nil
	}
	if err != nil {
		return fmt.Errorf("read a site: %w", err)
	}
	if err := b.pagesOf(ctx, "pages", label, site, pagesTime); err != nil {
		return err
	}
	many := newSite(small(), b.wide)
	return b.pagesOf(ctx, "manypages", fmt.Sprintf("%d documents", b.wide), append([]byte(many.schema), many.body()...), 0)
}

// pagesOf measures the pages of one site. If limit is 0, the time has no target.
func (b *bench) pagesOf(ctx context.Context, name, label string, site []byte, limit time.Duration) (err error) {
	b.sayf("row 25: %s", label)
	keyset, err := b.keyset(ctx, name)
	if err != nil {
		return err
	}
	s, err := b.start(ctx, name, "--secrets-keyset", keyset)
	if err != nil {
		return err
	}
	defer func() { err = s.stop(err) }()
	if err := s.put(ctx, "site", site); err != nil {
		return err
	}
	var sizes map[string]int
	times := make([]time.Duration, b.rounds+1)
	for i := range times { // each time for a revision whose pages have not been requested before
		if err := s.put(ctx, "added", fmt.Appendf(nil, added, i)); err != nil {
			return err
		}
		if times[i], err = timed(func() error {
			sizes, err = s.look(ctx, []string{"/ui/", "/ui/revisions/latest"})
			return err
		}); err != nil {
			return err
		}
	}
	took := median(times)
	what := label + ": overview and page of a revision just made, with what they embed, one after the other"
	if limit > 0 {
		b.add(25, took <= limit, "<= "+short(limit), what, short(took))
	} else {
		b.infof(25, what, "%s", short(took))
	}
	others := []string{
		"/ui/revisions", "/ui/search", "/ui/search?q=port", "/ui/compare?from=0&to=1", "/ui/revisions/latest/graph",
		"/ui/revisions/latest/schemas", "/ui/audit",
	}
	for _, page := range others {
		took, err := timed(func() error {
			more, err := s.look(ctx, []string{page})
			sizes[page] = more[page]
			return err
		})
		if err != nil {
			return err
		}
		b.infof(25, label+": "+page, "%s, %d bytes", short(took), sizes[page])
	}
	largest, most := "", 0
	for page, size := range sizes {
		if size > most {
			largest, most = page, size
		}
	}
	b.add(25, most <= pagesSize, fmt.Sprintf("<= %d bytes", pagesSize), label+": the largest page",
		fmt.Sprintf("%d bytes (%s)", most, largest))
	return nil
}

// added is a document that differs between revisions.
const added = `---
schema: bench/Added/v1
metadata:
  schema: metadata/Document/v1
  name: added
  storagePolicy: cleartext
  layeringDefinition: {abstract: true, layer: site}
data: {a: %d}
`

var embedded = regexp.MustCompile(`<(?:script src|img [^>]*src|link rel="[a-z]+" href)="(/ui/static/[^"]+)"`)

// look requests pages, and once each the files that they embed. It returns the sizes of the pages in bytes.
func (s *server) look(ctx context.Context, pages []string) (map[string]int, error) {
	sizes, files := map[string]int{}, map[string]bool{}
	for _, page := range pages {
		var text bytes.Buffer
		if err := s.send(ctx, http.MethodGet, page, nil, &text); err != nil {
			return nil, err
		}
		sizes[page] = text.Len()
		for _, file := range embedded.FindAllSubmatch(text.Bytes(), -1) {
			files[string(file[1])] = true
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%v embed no file", pages)
	}
	for file := range files {
		if err := s.send(ctx, http.MethodGet, file, nil, io.Discard); err != nil {
			return nil, err
		}
	}
	return sizes, nil
}
