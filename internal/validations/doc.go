// Package validations decides whether documents, and the revisions made of them, are fit for use.
//
// It has three parts. Sanity refuses what is no document at all. Rules and Engine check a document's data against the
// built-in schema of its kind or the DataSchema registered for it; a check depends on nothing but the two texts, so its
// outcome is kept for good under their Pair. Judge weighs all outcomes of a revision, the internal ones and those that
// other services posted, against the ValidationPolicies in force.
//
//	entry ──Sanity──► document ──Rules.For──► rule ──Engine.Check──► findings ─┐
//	                                                  posted results ──────────┼─► Judge ──► verdict
//	                                                  ValidationPolicies ──────┘
//
// Invariants: a verdict is never success while a required validation failed, expired or is missing; a schema that is
// dangerous or makes no sense never reaches the validator; messages are worded as the reference words them
// (spec/api.md §7.3), because clients match on them.
package validations
