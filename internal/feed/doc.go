// Package feed tells what happens to a site, in one order for everybody, and lets callers wait for it.
//
// A change does not give its event a number: all changes would have to wait for each other's commit. Its statement adds
// the event to an outbox, in its own transaction. Whoever reads the feed first numbers what was committed since, in one
// short transaction on the state of one moment:
//
//	change 1 ──insert, outbox 7──────────────commit
//	change 2 ─────────insert, outbox 8──commit
//	change 3 ──────────────────────────────────────insert, outbox 9──commit
//	                                        │
//	reader   lock the feed, read the outbox ┴─► 8 is event 41 ──derive──► event 42: verdict changed ──commit
//	later    lock the feed, read the outbox ──► 7 is event 43, 9 is event 44
//
// Invariants:
//   - Numbers are gapless, are given once and are the same for all readers, because whoever gives them holds the row of
//     the feed, and they are committed together with that row's counter.
//   - A reader that goes on from the number that it knows misses nothing: what is committed later gets a larger number.
//   - A change that began after another one was committed has a larger id in the outbox and is numbered later. So do
//     changes that wait for each other's rows: each adds its event once it holds them. Only the order of changes that
//     overlapped is chosen here.
//   - Events that follow from others, those of verdicts, are made by the one who numbers. The verdicts that were told
//     last are stored, so a change of a verdict is told once, by whichever server comes first, and no change is missed
//     because two results came in together. Changes that undo each other before they are seen are not told.
//   - Results expire without a change: the moment at which the next one does is stored, and whoever looks after it
//     tells.
//
// A Feed looks at the outbox while somebody waits: at once after a change that was made by its own server, and ten
// times a second for those of others, with one small query. While nobody waits it asks the database nothing; only after
// changes of its own server it numbers what they left, once a minute. LISTEN and NOTIFY would save these queries, but a
// transaction that notifies takes a lock of the whole database for its commit, and so all posted results would queue.
package feed
