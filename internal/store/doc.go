// Package store stores the site in Postgres, through pgx. With its subpackages, it contains all SQL of the server.
//
// This package stores documents and revisions, and opens the other parts. Each imports only those below it:
//
//	store     documents, revisions, changes
//	stream    numbered events, webhooks and their deliveries
//	deletion  prunes and purges
//	evidence  tags, posted results, policies
//	journal   an event and an audit entry for each change
//	site      the site's counters, contents, the version of the schema
//	postgres  calls with deadlines and retries
//
// An exported method is a transaction: it happens as a whole or not at all, except Prune, which is several. A document
// version is one row that is valid over an interval of revisions (interval.go), and its content is stored once by
// digest, so a revision costs as much as its changes and any revision is read by index alone. Append and Purge hold the
// site's counters from their first statement on, and Append succeeds only if they are still those of the plan: numbers
// have no gaps and follow the order of commits, and no two of these transactions wait for each other's rows. Prune
// holds them for milliseconds at a time.
package store
