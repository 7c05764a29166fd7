// Package revisions holds the values that a site consists of, and those that a change of it is made from: revisions,
// versions of documents, snapshots, diffs, commits. It declares the Store that keeps them.
//
// Package judging validates and renders them, package changes makes new revisions, and package queries answers
// questions about them.
package revisions
