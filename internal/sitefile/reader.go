package sitefile

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
)

// Reader reads a file from its beginning to its end. Its errors say what is wrong with the file.
type Reader struct {
	Manifest Manifest

	tar     *tar.Reader
	digest  hash.Hash
	name    string // of the entry that is read next; empty at the end of the archive
	content []byte
}

var (
	errNotOurs   = errors.New("it is not a file of `purser-server site export`, which begins with manifest.json")
	errTruncated = errors.New("its end is missing: the export was interrupted, or the file was not copied as a whole")
	errDigest    = errors.New("it was damaged or changed: its digest is that of other content")
	errTrailing  = errors.New("something follows its end")
)

// NewReader reads the manifest of a file.
func NewReader(r io.Reader) (*Reader, error) {
	f := &Reader{tar: tar.NewReader(r), digest: sha256.New()}
	if err := f.next(); err != nil || f.name != manifestName {
		return nil, errors.Join(errNotOurs, err)
	}
	var format struct {
		Format int `json:"format"`
	}
	switch err := json.Unmarshal(f.content, &format); {
	case err != nil || format.Format == 0:
		return nil, errors.Join(errNotOurs, err)
	case format.Format != Format:
		return nil, fmt.Errorf("its format is %d, and this version of purser-server reads %d", format.Format, Format)
	}
	decoder := json.NewDecoder(bytes.NewReader(f.content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f.Manifest); err != nil {
		return nil, fmt.Errorf("read its manifest: %w", err)
	}
	return f, f.advance()
}

// next reads the next entry.
func (r *Reader) next() error {
	r.name = ""
	header, err := r.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errTruncated
	case err != nil:
		return fmt.Errorf("read its next entry: %w", err)
	case header.Typeflag != tar.TypeReg || header.Size > maxPart:
		return fmt.Errorf("its entry %q is no file of at most %d bytes", header.Name, maxPart)
	}
	content := bytes.NewBuffer(r.content[:0])
	if _, err := io.Copy(content, r.tar); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return errTruncated
		}
		return fmt.Errorf("read its entry %q: %w", header.Name, err)
	}
	r.name, r.content = header.Name, content.Bytes()
	return nil
}

// advance adds the present entry to the digest and reads the next one.
func (r *Reader) advance() error {
	addEntry(r.digest, r.name, r.content)
	return r.next()
}

// Table returns the rows of the next table of the manifest. They are to be read to their end.
func (r *Reader) Table(name string) io.Reader { return &rows{file: r, table: name} }

// rows reads the parts of a table.
type rows struct {
	file  *Reader
	table string
	parts int
	rest  []byte // of the present part
	err   error
}

// Read implements io.Reader.
func (r *rows) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err == nil && r.parts > 0 {
			r.err = r.file.advance()
		}
		switch {
		case r.err != nil:
			return 0, r.err
		case r.file.name != partName(r.table, r.parts+1):
			r.err = io.EOF
			return 0, io.EOF
		}
		r.parts++
		r.rest = r.file.content
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close checks that the file ends, and its digest.
func (r *Reader) Close() error {
	switch {
	case r.name == "":
		return errTruncated
	case r.name != digestName:
		return fmt.Errorf("its entry %q belongs to none of its tables", r.name)
	case string(bytes.TrimSpace(r.content)) != hex.EncodeToString(r.digest.Sum(nil)):
		return errDigest
	}
	if err := r.next(); err != nil || r.name != "" {
		return errors.Join(errTrailing, err)
	}
	return nil
}
