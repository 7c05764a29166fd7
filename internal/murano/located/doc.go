// Package located reads YAML as PyYAML's safe loader does, and keeps where each value stands in its text.
//
// Murano's files are YAML 1.1, so scalars are resolved here and not by the YAML library (spec/murano.md §4). Aliases
// share their value: whoever walks a value counts what it visits, because a small text may unfold to an endless one.
package located
