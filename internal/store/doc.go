// Package store stores the site in Postgres, through pgx. It contains all SQL of the server.
//
// An exported method is a transaction: it happens as a whole or not at all. Prune is several: the first deletes the
// revisions, and the others what is no longer needed (sweep.go). A document version is one row that is valid over an
// interval of revisions (interval.go), its content is stored once by digest, so a revision costs what changed and any
// revision is read by index alone. Append and Purge hold the site's counters from their first statement on, and Append
// only if they still stand where the change was planned: numbers are given without gaps and follow the order of
// commits, and no two of these wait for each other's rows. Prune holds them for milliseconds at a time.
package store
