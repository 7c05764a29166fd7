// Package site connects to the database of a site, and reads what the packages of the store share: the site's counters,
// the version of the schema, revisions by stamp and contents by digest.
//
// The counters are one row. They name the newest revision by number and stamp, and each change, prune and purge updates
// them. A transaction that locks them with its first statement (LockHead, LockBase) is the only one that changes the
// site; all others wait for it before they lock anything else, so they never wait for each other's rows.
//
// A revision is identified by its number and its stamp: after a purge the numbers begin again, and a database that was
// restored has other revisions with the same numbers.
package site
