package sitefile

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"time"
)

// Writer writes a file. It keeps a part of a table in memory.
type Writer struct {
	tar    *tar.Writer
	at     time.Time
	digest hash.Hash
	table  string
	parts  int
	part   []byte
}

// NewWriter begins a file.
func NewWriter(w io.Writer, manifest Manifest) (*Writer, error) {
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	f := &Writer{tar: tar.NewWriter(w), at: manifest.At, digest: sha256.New()}
	return f, f.add(manifestName, append(text, '\n'))
}

// add adds an entry.
func (w *Writer) add(name string, content []byte) error {
	const mode = 0o600 // it has all that the site has
	addEntry(w.digest, name, content)
	header := &tar.Header{
		Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: mode,
		ModTime: w.at.Truncate(time.Second),
	}
	if err := w.tar.WriteHeader(header); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if _, err := w.tar.Write(content); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Begin ends the table before and begins the next one.
func (w *Writer) Begin(table string) error {
	err := w.flush()
	w.table, w.parts = table, 0
	return err
}

// flush writes what is there of a part.
func (w *Writer) flush() error {
	if len(w.part) == 0 {
		return nil
	}
	w.parts++
	err := w.add(partName(w.table, w.parts), w.part)
	w.part = w.part[:0]
	return err
}

// Write adds to the present table.
func (w *Writer) Write(rows []byte) (n int, err error) {
	for len(rows) > 0 {
		some := rows[:min(len(rows), maxPart-len(w.part))]
		w.part = append(w.part, some...)
		if rows, n = rows[len(some):], n+len(some); len(w.part) == maxPart {
			if err := w.flush(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// Close ends the file, without closing what it is written to.
func (w *Writer) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.add(digestName, append(hex.AppendEncode(nil, w.digest.Sum(nil)), '\n')); err != nil {
		return err
	}
	if err := w.tar.Close(); err != nil {
		return fmt.Errorf("end the archive: %w", err)
	}
	return nil
}
