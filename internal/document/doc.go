// Package document reads streams of configuration documents and converts them to their stored form: JSON text and a
// digest.
//
// A body goes through three steps. Split cuts it into segments, one per document, without parsing them, and hashes
// each, so that callers need not decode known segments. Decode parses a segment into an Entry, under limits and with
// scalars resolved as in YAML 1.1. New converts an Entry that passed its sanity checks into a Document, with the
// defaults of Deckhand's schemas.
//
// Invariants:
//   - Data and Metadata of a Document are compact JSON text, numbers as Python prints them (1e-07, 100.0).
//   - Data has its keys in written order. Its Digest is that of the form with sorted keys, so documents that differ
//     only in the order of keys have the same Digest.
//   - Values that JSON cannot represent are refused, with their line and column.
//   - No error quotes a text, because any part of it may be a secret: errors consist of constant rules and numbers.
//   - Work and memory are bounded by Limits, with aliases and merge keys expanded, and charged to the request's budget:
//     text when it is read (parse.go for the YAML library, plain.go, json.go), values when they are created
//     (decode.go).
//   - The choice of the YAML reader affects only the speed. The plain reader reads the subset in which nearly all
//     documents are written and declines the rest, which the YAML library then reads from its beginning, as it reads
//     everything with Limits.Strict. Only the library's reader refuses texts (FuzzPlainEqualsYAML).
package document
