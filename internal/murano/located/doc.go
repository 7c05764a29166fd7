// Package located reads YAML as PyYAML's safe loader does and keeps the position of each value in the text.
//
// Murano's files are YAML 1.1, so this package resolves scalars, not the YAML library. Aliases share their value: code
// that walks a value must bound its visits, because a small text may expand endlessly.
package located
