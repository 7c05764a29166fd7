// Package store keeps the site in Postgres, through pgx. All SQL of the house is here.
//
// An exported method is a transaction: it happens as a whole or not at all. A document version is one row that is valid
// over an interval of revisions (interval.go), its content is stored once by digest, so a revision costs what changed
// and any revision is read by index alone. Append takes the site's counter in its last statement, and only if it still
// stands where the change was planned: numbers are given without gaps and follow the order of commits.
package store
