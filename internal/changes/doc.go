// Package changes modifies a site: it fills buckets, one or several at once, rolls back, prunes, and keeps what belongs
// to revisions (tags, posted results).
//
// A change is a sequence of values. Each step takes values and returns new ones; nothing that was returned is modified
// afterwards:
//
//	body ─parse─► Payload ─┐
//	                       ├─plan─► Diff ─┬─judge─► Judgement ─┬─► Commit ─append─► revision
//	Store.Snapshot(need) ──┘              │                    │
//	                                      └───── preview ◄─────┘
//
// plan and judge, which is package judging, are pure functions, without access to a store. A Need names the parts of
// the site that they work on, which are read in one round trip and at one moment; where the first snapshot shows that
// more is needed, a second one replaces it. A rollback is another way to make a Diff.
//
// Everything expensive happens before a change holds the write lock. Append stores a Commit if nothing that it depends
// on has changed since its snapshot, and gives it the next numbers; else the change is planned again, with all that is
// decoded.
//
// Invariants: revision numbers are gapless and in the order of commits, and only a prune removes some; a document
// identity is live in at most one bucket; the schema validation of a revision covers all of its documents; a PUT that
// changes nothing writes nothing; a dry run writes nothing at all.
package changes
