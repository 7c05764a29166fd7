// Package judging finds out whether a revision may be used: it checks documents by their schemas, validates revisions
// as a whole as their policies require, and renders documents with their secrets. It has no access to a store: all that
// it works on is in a snapshot and a diff.
package judging
