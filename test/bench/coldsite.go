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

	"gopkg.in/yaml.v3"
)

// coldSite is a site of row 19.
type coldSite struct {
	label  string
	schema string // put first, into a bucket of its own
	body   []byte
	limit  float64
}

// coldSites measures row 19: a PUT into an empty site, relative to yaml.v3 parsing the same text into nodes. It leaves
// out real sites that are not available.
func (b *bench) coldSites(ctx context.Context) (err error) {
	own := newSite(small(), b.docs)
	sites := []coldSite{{fmt.Sprintf("%d x %s", b.docs, own.label), own.schema, own.body(), 0.8}}
	for name, limit := range map[string]float64{"tm19-airskiff": 0.9, "aiab-demo": 1} {
		body, err := os.ReadFile(filepath.Join(b.shared, "corpus", name, "documents.yaml"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		sites = append(sites, coldSite{name, "", body, limit})
	}
	s, err := b.start(ctx, "coldsites")
	if err != nil {
		return err
	}
	defer func() { err = s.stop(err) }()
	for _, site := range sites {
		b.sayf("row 19: %s", site.label)
		err := b.compare(compared{
			row: 19, limit: site.limit, repeats: rarely,
			before: func() error { return site.prepare(ctx, s) },
			what:   site.label + ": PUT into an empty site, schemas compiled before, to yaml.v3 reading it into nodes",
			measured: func() error {
				return s.put(ctx, "site", site.body)
			},
			against: func() error { return readNodes(site.body) },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// prepare purges the server's site except for the schema.
func (c coldSite) prepare(ctx context.Context, s *server) error {
	if err := s.send(ctx, http.MethodDelete, api+"/revisions", nil, io.Discard); err != nil {
		return err
	}
	if c.schema != "" {
		if err := s.put(ctx, "schemas", []byte(c.schema)); err != nil {
			return err
		}
	}
	return vacuum(ctx, s.db)
}

// readNodes parses all documents of a stream and keeps them, as a program that used them would.
func readNodes(body []byte) error {
	var documents []*yaml.Node
	for decoder := yaml.NewDecoder(bytes.NewReader(body)); ; {
		node := new(yaml.Node)
		switch err := decoder.Decode(node); {
		case errors.Is(err, io.EOF) && len(documents) > 0:
			return nil
		case err != nil:
			return fmt.Errorf("read document %d: %w", len(documents)+1, err)
		}
		documents = append(documents, node)
	}
}
