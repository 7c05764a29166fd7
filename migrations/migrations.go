// Package migrations holds the numbered SQL files that bring a database up to this version of Purser.
//
// A file is named NNNN_what.up.sql and never changes once it is released; there is no way down. Each runs as one
// transaction, so it must not say BEGIN or COMMIT itself.
package migrations

import "embed"

// FS holds the files.
//
//go:embed *.sql
var FS embed.FS
