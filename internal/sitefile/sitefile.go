// Package sitefile writes and reads the files by which a site is moved from one database to another, and backed up.
//
// Such a file is a tar archive. Its first entry, manifest.json, says what follows: the rows of each table, in the text
// format of Postgres's COPY without the column site, in parts revisions/00000001, revisions/00000002 and so on. The
// last entry, sha256, has the digest of all before it. Of the same rows and the same manifest, a file has the same
// bytes.
package sitefile

import (
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"time"
)

// Format is the version of the format.
const Format = 1

// Manifest says what is in a file.
type Manifest struct {
	Format int       `json:"format"`
	Site   string    `json:"site"`
	Schema int       `json:"schema"` // version of the database's schema
	At     time.Time `json:"at"`
	By     string    `json:"by"` // version of the program that wrote it
	// Keys are the ids of the keys that its secrets are sealed with.
	Keys   []uint32 `json:"keys"`
	Tables []Table  `json:"tables"`
}

// Table says what is there of a table.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"` // of the rows, in their order
	Rows    int64    `json:"rows"`
	Newest  int64    `json:"newest,omitempty"` // the largest id, if the ids are of a sequence
}

// Names of entries that are not of a table.
const (
	manifestName = "manifest.json"
	digestName   = "sha256"
)

// maxPart is the size of each part of a table but the last.
const maxPart = 4 << 20

// partName returns the name of a part of a table, counted from 1.
func partName(table string, part int) string { return fmt.Sprintf("%s/%08d", table, part) }

// addEntry adds an entry to a digest: its name, its size and its content.
func addEntry(digest hash.Hash, name string, content []byte) {
	_, _ = io.WriteString(digest, name) // a hash returns no error
	digest.Write(binary.BigEndian.AppendUint64([]byte{0}, uint64(len(content))))
	digest.Write(content)
}
