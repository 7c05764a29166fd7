// Package findings describes the problems of a revision: how severe each is, where it is and what to do about it. It
// works on values only; package queries reads these from a store.
package findings
