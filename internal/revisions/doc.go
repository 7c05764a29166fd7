// Package revisions holds the values that make up a site and its changes: revisions, versions of documents, snapshots,
// diffs and commits. It declares the Store that keeps them.
//
// Package changes makes, validates and renders revisions, and package queries reads them.
package revisions
