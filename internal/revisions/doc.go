// Package revisions holds the use cases of the service: taking in a bucket of documents, reading revisions and their
// documents, posting and reading validations, and the verdict on a revision.
//
// A PUT is decoded and checked outside of any lock, then planned against the newest state and appended in one
// transaction that succeeds only if that state is still the newest; else it is planned again.
//
//	body ─split─► segments ─decode what is unknown─► documents ─plan─► change ─append─► revision
//	                                                             ▲                 │
//	                                                             └── state moved ──┘
//
// Invariants: revision numbers are given without gaps and follow the order of commits; a document identity is live in at most one
// bucket; every revision has a schema validation that speaks for all of its documents; a PUT that changes nothing
// writes nothing.
package revisions
