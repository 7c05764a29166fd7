// Package feed numbers the events of a site, in one order for all readers, and lets callers wait for them.
//
// A change does not number its own event: all changes would have to wait for each other's commit. Instead, it adds the
// event to an outbox, in its own transaction. The next reader of the feed numbers the events that have been committed
// since, in one short transaction on one snapshot:
//
//	change 1 ──insert, outbox 7──────────────commit
//	change 2 ─────────insert, outbox 8──commit
//	change 3 ──────────────────────────────────────insert, outbox 9──commit
//	                                        │
//	reader   lock the feed, read the outbox ┴─► 8 is event 41 ──derive──► event 42: verdict changed ──commit
//	later    lock the feed, read the outbox ──► 7 is event 43, 9 is event 44
//
// Invariants:
//   - Numbers are gapless, given once, and the same for all readers, because a pass that numbers events locks the
//     feed's row and commits them together with the counter in it.
//   - A reader that continues after the last number it knows misses nothing: events committed later get larger numbers.
//   - A change that begins after another was committed has a larger id in the outbox and gets a larger number. The same
//     holds for changes that wait for each other's rows, because each adds its event once it has locked them. Only
//     changes that overlap are put in an arbitrary order.
//   - Events about verdicts follow from others, and are made by the pass that numbers those. The verdicts reported last
//     are stored, so that each change of a verdict is reported once, by the first server, even if two results arrive
//     together. Changes that undo each other in between are not reported.
//   - Results also expire without a change. The time of the next expiry is stored, and the first pass after it reports
//     the verdict.
//
// While requests wait, a Feed looks at the outbox: at once after a change made by its own server, and ten times a
// second, with one small query, for those of others. Otherwise it sends no queries, except that it numbers within a
// second the events of its own server's changes and those that a reader of evidence finds: until then, servers do not
// know whether what they have read about a revision still holds. LISTEN and NOTIFY would save these queries, but a
// transaction that notifies locks the whole database during its commit, so all posted results would queue.
package feed
