// Package secrets seals the data of documents with storagePolicy: encrypted before they reach the database, and opens
// it again for whoever may see it (spec/api.md §9).
//
//	             place ──┐
//	clear text ──────────┼── Seal ──► sealed text ──► database ──► Open ──► clear text
//	   │                 │            (key id, nonce, ciphertext)   │
//	   └── Digest ◄──────┘                                          └── *Unopened: lost key, or damaged or moved
//	         │
//	         ├─► is this content another one? (asked without opening anything)
//	         └─► Reference: secret://… is what answers show
//
// Two keysets live in one file, {"aead": …, "digest": …}, each as Tink writes it: in the clear in a file that nobody
// else can read, or encrypted by a key of a KMS. Rotate adds a primary key to the first and never touches the second.
//
// Invariants:
//   - A sealed text opens only for the site and document that it was sealed for, and only unchanged.
//   - A digest says whether the same document of the same site has the same content, over every rotation; without the
//     key it says nothing, not even that two documents share a password.
//   - A key that has sealed something stays in the file until somebody takes it out: nothing here removes one, and a
//     file is replaced whole or not at all.
//   - No error and no log line holds a clear text or a key, not even in part.
//   - A Keyring serves any number of goroutines, and goes on with the keys it has when its file breaks.
package secrets
