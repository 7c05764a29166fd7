// Package stream numbers the events of a site, and delivers them to webhooks. It implements feed.Store and
// webhooks.Store.
//
//	outbox ─► one transaction: lock the feed, number events, derive new verdicts ─► events
//	                                       │
//	                                       └─► a delivery for each webhook that wants the event ─► attempts
//
// Changes add their events to the outbox in their own transactions, in any number at once (package journal). Numbering
// is a transaction of its own that locks the feed, so numbers have no gaps and follow the order in which events were
// numbered, whichever server does it. An event leaves the outbox in the transaction that gives it a number, stores the
// verdicts derived from it and queues its deliveries, so none is lost or numbered twice.
//
// Deliveries are jobs of River, which keeps them in the database and gives each to one of the servers at a time.
package stream
