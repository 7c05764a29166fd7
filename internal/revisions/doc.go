// Package revisions holds the use cases of the service: filling buckets, one or several at once, rolling back, reading
// and comparing revisions and their documents, tags, posting and reading validations, and the verdict on a revision.
//
// A payload is decoded and checked outside of any lock, then planned against the newest state and appended in one
// transaction that succeeds only if that state is still the newest; else it is planned again. A rollback is planned and
// appended in the same way, from the difference to its target; a dry run ends before the append.
//
//	body ─split─► segments ─decode what is unknown─► documents ─┐
//	                                    target ─compare─────────┴─plan─► change ─judge─► change ─append─► revision
//	                                                                ▲                      │        │
//	                                                                └──── state moved ─────┼────────┘
//	                                                                                       └─► preview
//
// Invariants: revision numbers are given without gaps and follow the order of commits, and only a prune takes some
// away; a document identity is live in at most one bucket; every revision has a schema validation that speaks for all
// of its documents; a PUT that changes nothing writes nothing; a dry run writes nothing at all.
package revisions
