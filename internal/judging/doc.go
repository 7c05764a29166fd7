// Package judging decides whether a revision is usable: it checks documents by their schemas, validates whole revisions
// as their policies require, and renders documents with their secrets. It has no access to a store; its input is a
// snapshot and a diff.
package judging
