// Package difftext formats the unified diffs of documents for terminals: coloured, indented or in two columns.
//
//	text of the server or of package diff ─> lines, by kind ─┬─> Unified, Indented
//	                                                         └─> SideBySide
//
// Invariants:
//   - Only the colours that it adds can control a terminal: such characters of the text are replaced.
//   - A line of a document that looks like the header of a diff is still a line of the document.
package difftext
