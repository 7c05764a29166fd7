// Package queries reads revisions: their submitted and rendered documents, their differences, the findings of their
// validations, and whether they may be used. It changes nothing.
package queries
