// Package schemadocs documents a DataSchema for those who write documents of its kind: as Markdown, and as an HTML page
// made from that Markdown (issue 5, spec/property-groups.md §6).
//
// A page comes about in two steps. The plan (plan.go, rows.go, definitions.go) finds the sections: the schema itself,
// what is nested in it and cannot be said in a table's row, and its definitions; it gives each an anchor (anchors.go)
// and each property the lines that property groups say of it (groups.go). The writer (write.go, table.go,
// conditions.go) then puts section by section into Markdown: types and constraints in words (words.go, constraints.go),
// all names and texts escaped (escape.go).
//
// What always holds:
//
//   - The package is pure: the same page gives the same bytes, and nothing is ever opened or fetched.
//   - Nothing of the schema is markup: its descriptions are plain text. Every < is an entity, every link one of ours.
//   - Any mapping can be documented, also one that is no schema; what is malformed is said in its place.
//   - Draft 4 alone counts, as in checks: $schema, id and keywords of later drafts are ignored, $ref hides what is
//     beside it.
//   - A reference is a link and is never followed into a page, so those that come back to themselves end.
//   - A page has at most about 1 MiB of Markdown and 4 MiB of HTML, whatever the schema; it says what it leaves out.
//     Every link leads somewhere.
package schemadocs

import "purser/internal/document"

// Page is what is documented.
type Page struct {
	Name   string // acme/Widget/v1
	Source string // ends "This schema is …": "built in", "registered by document [..] in bucket b, revision n"
	Schema document.Mapping
}

// What a page holds at most. Sizes are in bytes.
const (
	maxMarkdown = 1 << 20 // roughly: what is begun is finished
	maxHTML     = 4 << 20
	maxSections = 20_000
	maxRows     = 50_000
	maxItems    = 20_000 // of lists of conditions
	maxDepth    = 100    // of sections within one another
	maxNesting  = 8      // of what is said in one row or list: array of array of …
	maxText     = 4000   // of a description
	maxCode     = 300    // of a name, a pattern, a default
	maxValues   = 2000   // of an enumeration, a list of names
	maxLines    = 50     // that property groups say of one property
	maxPipes    = 500    // in code in tables: goldmark's time grows with their square
)
