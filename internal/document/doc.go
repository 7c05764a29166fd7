// Package document reads streams of configuration documents and gives them the one form that the rest of Purser works
// on: JSON text and a digest.
//
// A body goes through three steps. Split cuts it into segments, one a document, without parsing them, and hashes each:
// a segment whose digest is known to the caller needs no further work. Decode parses one segment into an Entry, under
// limits, with scalars resolved as YAML 1.1 (spec/rendering.md R17). New makes an Entry that passed its sanity checks
// into a Document with the defaults of spec/api.md §2.6.
//
// Invariants:
//   - Data and Metadata of a Document are compact JSON text, numbers in the form Python prints them (1e-07, 100.0).
//   - Data keeps its keys in the order they were written; its Digest is taken over the form with sorted keys, so the
//     order of keys is no part of what a document says.
//   - What JSON cannot carry never gets in: it is refused with the line and column where it stands.
//   - Work and memory are bounded by Limits, also for aliases and merge keys, and are paid for from the request's
//     budget while they are spent: a text as the YAML library reads it (parse.go), values as they are made (decode.go).
package document
