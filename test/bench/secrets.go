package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
)

// secrets measures row 15.
func (b *bench) secrets(ctx context.Context) (err error) {
	keyset, err := b.keyset(ctx, "secrets")
	if err != nil {
		return err
	}
	for _, kind := range []kind{small(), large()} {
		site := newSite(kind, b.docs)
		b.sayf("row 15: %d documents of %s, in clear and sealed", b.docs, kind.label)
		if err := b.sealed(ctx, site, keyset); err != nil {
			return err
		}
	}
	return nil
}

// keyset creates a keyset file.
func (b *bench) keyset(ctx context.Context, name string) (string, error) {
	keyset := filepath.Join(b.dir, name+".json")
	made := exec.CommandContext(ctx, b.binary, "secrets", "new", "--secrets-keyset", keyset)
	if said, err := made.CombinedOutput(); err != nil {
		return "", fmt.Errorf("make a keyset: %w\n%s", err, said)
	}
	return keyset, nil
}

// sealed compares uploads of a site whose documents are all encrypted with uploads of the same site in cleartext.
func (b *bench) sealed(ctx context.Context, site *site, keyset string) (err error) {
	server, err := b.start(ctx, fmt.Sprintf("sealed%d", site.label[0]), "--secrets-keyset", keyset)
	if err != nil {
		return err
	}
	defer func() { err = server.stop(err) }()
	if err := server.put(ctx, "schemas", []byte(site.schema)); err != nil {
		return err
	}
	inClear := site.body()
	encrypted := bytes.ReplaceAll(inClear, []byte("storagePolicy: cleartext"), []byte("storagePolicy: encrypted"))
	put := func(body []byte) func() error {
		return func() error {
			if err := server.put(ctx, "site", body); err != nil {
				return err
			}
			return server.get(ctx, api+"/revisions/latest/status?expect=success")
		}
	}
	return b.compare(compared{
		row: 15, limit: 1.25, repeats: rarely, against: put(inClear), measured: put(encrypted),
		before: func() error {
			if err := server.send(ctx, http.MethodDelete, api+"/revisions", nil, &bytes.Buffer{}); err != nil {
				return err
			}
			if err := vacuum(ctx, server.db); err != nil {
				return err
			}
			return server.put(ctx, "schemas", []byte(site.schema))
		},
		what: fmt.Sprintf("PUT of %d new documents of %s, all of them encrypted, to all in clear",
			len(site.documents), site.label),
	})
}
