// Package changes modifies a site: it fills one or several buckets, rolls back, prunes, and stores tags and posted
// results.
//
// A change is a sequence of immutable values; each step takes values and returns new ones:
//
//	body ─parse─► Payload ─┐
//	                       ├─plan─► Diff ─┬─judge─► Judgement ─┬─► Commit ─append─► revision
//	Store.Snapshot(need) ──┘              │                    │
//	                                      └───── preview ◄─────┘
//
// plan and judge are pure functions without access to a store. A Need lists the parts of the site that they use; these
// are read in one round trip, at one moment. If the first snapshot shows that more is needed, a second one replaces it.
// A rollback makes its Diff without a Payload.
//
// All expensive work is done before a change takes the write lock. Append stores a Commit only if the head is still
// that of its snapshot; otherwise the change is planned again, with the documents that it has decoded and the outcomes
// of checks that the Engine remembers; then it holds the lock all the time.
//
// Invariants: revision numbers increase by one in the order of commits, and only a prune leaves gaps; a document
// identity is live in at most one bucket; the schema validation of a revision covers all of its documents; a PUT that
// changes nothing writes nothing; a dry run never writes.
package changes
