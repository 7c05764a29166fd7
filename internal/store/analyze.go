package store

import "purser/internal/revisions"

// manyAdded is the number of documents above which a change may be followed by analyze.
const manyAdded = 200

// outgrows reports whether a change makes the site so much larger that plans which were made for its former size may
// read all of it.
func outgrows(commit revisions.Commit) bool {
	return len(commit.Diff.Added) >= max(manyAdded, commit.Base.Live)
}
