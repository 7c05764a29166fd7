// Package views formats answers of a server as the commands print them. Each function is for one kind of answer.
//
//	value of package client, with its JSON text ──► Answer ──In a format──► text for standard output
//
// Invariants:
//   - Functions are pure: they ask no server, read no file and decide no exit code.
//   - What people have written, in documents, messages and tags, cannot control a terminal or begin a line of a table.
//   - A line of a document that looks like the header of a diff is still a line of the document.
//   - An answer has the same names for the same things in all formats.
package views
