// Package migrations contains the numbered SQL files that bring a database up to this version of Purser, and the schema
// after each of them.
//
// A file is named NNNN_what.up.sql and never changes once it is released; there are no down migrations. Each runs as
// one transaction, so it must not contain BEGIN or COMMIT. make schema writes schema/NNNN.txt, which servers compare
// with the database at start.
package migrations

import (
	"embed"
	"fmt"
	"io/fs"
)

// FS has the SQL files and the schemas.
//
//go:embed *.sql schema/*.txt
var FS embed.FS

// SchemaFile returns the name of the file with the schema of a version.
func SchemaFile(version int) string { return fmt.Sprintf("schema/%04d.txt", version) }

// Newest returns the version of the last SQL file.
func Newest() (version int) {
	files, _ := fs.Glob(FS, "*.up.sql") // in order; fails for malformed patterns only
	_, _ = fmt.Sscanf(files[len(files)-1], "%d", &version)
	return version
}
