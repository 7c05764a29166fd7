package site

import "purser/internal/revisions"

const (
	// HeadColumns are the counters of a site s.
	HeadColumns = `s.epoch, s.stamp, s.prunes, s.head, s.documents, s.live`

	// ReadHead reads the counters.
	ReadHead = `SELECT ` + HeadColumns + ` FROM sites s WHERE s.site = $1`

	// LockHead is the first statement, so that no two transactions that change the site wait for each other's rows.
	LockHead = ReadHead + ` FOR UPDATE`

	// LockBase is LockHead, with the stamp of the revision $2, 0 if it does not exist, and the version of the schema.
	LockBase = `SELECT ` + HeadColumns + `, coalesce(
			(SELECT r.stamp FROM revisions r WHERE r.site = s.site AND r.revision = $2), 0),
			(` + schemaVersion + `)
		FROM sites s WHERE s.site = $1 FOR UPDATE`
)

// HeadFields returns the destinations of a row of HeadColumns.
func HeadFields(head *revisions.Head) []any {
	return []any{&head.Epoch, &head.Stamp, &head.Prunes, &head.Revision, &head.LastDocument, &head.Live}
}
