// Package findings describes what is wrong with a revision: the problems that its validations found, how bad each is,
// where it is and what to do about it. It makes values from values; what reads them from a store is in queries.
package findings
