// Package check says what a server would say about files, as one revision of a site of their own.
//
// It is what `purser check` does. The checks themselves are those of the server: documents are read by the package
// document, judged by changes and put into words by findings, over a site that has nothing else.
//
//	files ──split──► texts ──decode──► documents ──judge──► findings ──locate──► report
//	                   ▲                   │
//	                   └── known by text ──┘
//
// Invariants:
//   - Bytes in, a Report out: only Reader reads, and only WriteFolder writes. The same files give the same report.
//   - A document that cannot be read keeps no other one from being checked. Then the revision is not whole, and what
//     depends on all of it is not judged, because most of it would follow from what is missing.
//   - What an encrypted document says is in no report: neither its values nor its lines.
package check
