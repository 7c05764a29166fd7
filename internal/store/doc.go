// Package store stores the site in Postgres, through pgx. With migration, it contains all SQL of the server: statements
// with names and named arguments, in sql/*.sql. Only those whose conditions or order depend on the request are made by
// code: in selection.go, in revisions.go for List, and in audit.go.
//
//	database.go, reading.go   calls with deadlines, few connections, retries
//	append.go, copy.go        a change
//	snapshot.go               what a change is planned and judged by
//	documents.go, …           what is read about revisions
//	posts.go, tags.go         posted results and tags
//	evidence.go, results.go   what verdicts are based on, with the policies
//	prune.go, purge.go        deletion
//	feed.go                   events: recorded by each change, then numbered
//	webhooks.go               webhooks and their deliveries
//	statements.go             loads sql/*.sql and binds arguments
//
// An exported method is a transaction: it happens as a whole or not at all, except Prune, which is several. A document
// version is one row that is valid over an interval of revisions (interval.go), and its content is stored once by
// digest, so a revision costs as much as its changes and any revision is read by index alone.
//
// The counters of a site are one row. They name the newest revision by number and stamp, and each change, prune and
// purge updates them. Append and Purge lock them with their first statement and hold them to the end, and Append
// succeeds only if they are still those of the plan: numbers have no gaps and follow the order of commits, and no two
// of these transactions wait for each other's rows. Prune holds them for milliseconds at a time.
//
// A revision is identified by its number and its stamp: after a purge the numbers begin again, and a database that was
// restored has other revisions with the same numbers.
//
// Each change records an event and an entry of the audit, in its own transaction. Events wait in the outbox:
//
//	transaction of a change: … ─► event into the outbox ─► entry into the audit ─► commit ─► wake
//	                                      │                                                   │
//	transaction of Number:                └──────────► is numbered and deleted ◄── Committed ─┘
//	                                                          │
//	                                                          └─► derived verdicts, deliveries to webhooks
//
// An event is added after all statements of its transaction that wait for locks, so that the ids of the outbox are in
// the order of changes that wait for each other. Number locks the feed, so numbers have no gaps and follow the order in
// which events were numbered, whichever server does it. An event leaves the outbox in the transaction that numbers it,
// stores the verdicts derived from it and queues its deliveries, so none is lost or numbered twice. Deliveries are jobs
// of River, which keeps them in the database and gives each to one of the servers at a time.
//
// Results that are posted at the same time are written by one statement (posts.go). Two caches save most reads for
// verdicts: of parsed policies, by the digest of their content, and of the evidence about a revision by name, which is
// valid until the site has a newer event. Every transaction that changes evidence adds one.
//
// A purge is one transaction. A prune first deletes the revisions, in one transaction that holds the site's counters
// only at its end: from then on they are gone for everybody. Data that no remaining revision needs is deleted after
// that, in steps (sweep.go). Each step is a transaction of its own and finds the remaining work itself, so a prune may
// end after any of them, and the next one continues:
//
//	delete revisions ─► entries ─► violations ─► versions of documents ─► contents ─► outcomes of checks
//		─► occupancies ─► (vacuum)
//
// No step holds the counters longer than a few milliseconds, and there is a pause after each.
package store
