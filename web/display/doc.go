// Package display turns texts into what pages show of them: legible and short texts, the numbered lines of a document
// with its findings, and unified diffs as rows.
//
//	any text ── Cut… ──> what html/template escapes and writes
//	YAML ── Numbered, Mark, PageOfLines ──> one page of lines
//	unified diffs ── Differences, Fit ──> the comparisons for which a page has room
//
// Invariants:
//   - Characters that control the layout of text are shown by their numbers.
//   - Sizes are counted in bytes of a page, as html/template escapes texts. A page has at most MaxLines bytes of lines.
//   - No line of a document is taken for a header of a diff.
package display
