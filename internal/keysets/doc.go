// Package keysets keeps keys in files: keysets in Tink's format, in cleartext in a file that only its owner can read,
// or encrypted with a key of a KMS. It creates such files, adds keys to them, and reads them again when they have
// changed.
//
// What the keys are for is decided by others (secrets, attest), each of which has a Kind of file. One keyset of a file
// is rotated. Its newest key is used from a time on that is in the file ("next"), so that all hosts with copies of the
// file change the key together, and so that a restart does not postpone it.
//
// Invariants:
//   - A key stays in its file until an operator removes it: this package removes none, and replaces files atomically.
//   - No error and no log line holds a part of a key.
//   - What reads a file keeps its keys when the file becomes unusable.
package keysets
