// Package lsp serves editors by the Language Server Protocol, on what package check finds in the files of a folder.
//
//	client ──messages (codec.go)──► server ──open texts──► project ──files──► check.Checker ──► state
//	   ▲                              │ watch.go              project.go                          │
//	   └── diagnostics, answers ◄─────┴───────── hover, definition, completion ◄──────────────────┘
//
// Notifications are read one after the other. A check runs when the files have been quiet for a moment; requests run
// beside it, on the outcome of the last one and on the text as it is now.
//
// Invariants:
//   - Nothing is written to the output except messages of the protocol.
//   - A message has at most 16 MiB; one that is larger, or is no message, ends the session with an error.
//   - The work on files and on requests has the budgets of package check.
//   - Texts of open files take precedence over those on disk. Names and what is excluded are as for purser check.
//   - No answer has the data of an encrypted document.
package lsp
