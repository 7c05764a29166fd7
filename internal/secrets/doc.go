// Package secrets encrypts (seals) the data of documents with storagePolicy: encrypted before it reaches the database,
// and decrypts (opens) it for callers who may see it.
//
//	             place ──┐
//	clear text ──────────┼── Seal ──► sealed text ──► database ──► Open ──► clear text
//	   │                 │            (key id, nonce, ciphertext)   │
//	   └── Digest ◄──────┘                                          └── *Unopened: key missing, or damaged or moved
//	         │
//	         ├─► compare contents without opening them
//	         └─► Reference: secret://…, shown in answers
//
// A keyset file (keysets) holds two keysets, {"aead": …, "digest": …}. Rotate adds a key to the first and never changes
// the second. A new key opens texts at once and seals from a time on that is in the file ("next"), so that hosts with
// copies of the file can all have it before.
//
// Invariants:
//   - A sealed text opens only for the site and document that it was sealed for, and only if it was not modified.
//   - Digests of a document of a site are equal if and only if its contents are, across rotations; without the key they
//     reveal nothing, not even that two documents share a password.
//   - A key stays in the file until an operator removes it: this package removes none, and replaces files atomically.
//   - No error and no log line holds a part of a cleartext or of a key.
//   - A Keyring is safe for concurrent use, and keeps its keys when its file becomes unusable.
package secrets
