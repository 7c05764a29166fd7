// Package validations validates documents and decides whether revisions of them may be deployed.
//
// It has three parts. Sanity refuses entries that are not documents. Rules and Engine check the data of a document
// against the built-in schema of its kind or the DataSchema registered for it; the outcome depends on the two texts
// only and can be stored under their Pair forever. Decide compares all outcomes of a revision, the server's own and
// those that other services posted, with the ValidationPolicies in force.
//
//	entry ──Sanity──► document ──Rules.For──► rule ──Checker.Check──► findings ─┐
//	                                                   posted results ──────────┼─► Decide ─► verdict
//	                                                   ValidationPolicies ──────┘
//
// Invariants:
//   - A verdict is never Success while a required validation has failed, has expired or is missing.
//   - Malformed or dangerous schemas never reach the validator.
//   - Messages are those of Deckhand, because clients match on them.
package validations
