// Package migrations holds the numbered SQL files that bring a database up to this version of Purser, and the schema
// that each leaves.
//
// A file is named NNNN_what.up.sql and never changes once it is released; there is no way down. Each runs as one
// transaction, so it must not say BEGIN or COMMIT itself. make schema writes schema/NNNN.txt, which servers compare
// with the database at start.
package migrations

import (
	"embed"
	"fmt"
)

// FS holds the files.
//
//go:embed *.sql schema/*.txt
var FS embed.FS

// SchemaFile returns the name of the file with the schema of a version.
func SchemaFile(version int) string { return fmt.Sprintf("schema/%04d.txt", version) }
