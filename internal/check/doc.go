// Package check reports the findings that a server would report about files, as one revision of their own site.
//
// It implements `purser check`. The checks are those of the server: package document reads the documents, package
// changes judges them, and package queries describes the findings, for a site that has no other documents.
//
//	files ──split──► texts ──decode──► documents ──judge──► findings ──locate──► report
//	                   ▲                   │
//	                   └── known by text ──┘
//
// Invariants:
//   - Only Reader reads files, and only WriteFolder writes them. The same files give the same report.
//   - A document that cannot be read does not keep others from being checked. The revision is then not whole, and
//     checks of the whole revision are skipped, because most of their findings would be due to the missing document.
//   - No report reveals the content of an encrypted document: neither its values nor its lines.
package check
