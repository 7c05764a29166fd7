// Package store stores the site in Postgres, through pgx. It contains all SQL of the server.
//
// An exported method is a transaction: it happens as a whole or not at all. Prune is several: the first deletes the
// revisions, and the others data that is no longer needed (sweep.go). A document version is one row that is valid over
// an interval of revisions (interval.go), its content is stored once by digest, so a revision costs as much as its
// changes and any revision is read by index alone. Append and Purge hold the site's counters from their first statement
// on, and Append succeeds only if they are still those of the plan: numbers have no gaps and follow the order of
// commits, and no two of these transactions wait for each other's rows. Prune holds them for milliseconds at a time.
package store
