// Package journal records what happens to a site, in the transactions in which it happens: an event for the feed, which
// waits in the outbox, and an entry of the audit.
//
//	transaction of a change: … ─► event into the outbox ─► entry into the audit ─► commit ─► Wake
//	                                      │                                                   │
//	package stream:                       └──────────► is numbered and deleted ◄── Committed ─┘
//
// An event is added after all statements of its transaction that wait for locks, so that the ids of the outbox are in
// the order of changes that wait for each other.
package journal
