// Package attest makes and verifies attestations: signed statements that a revision, with exactly these rendered
// documents, had a verdict of success. Who has one and a public key needs no server to verify it.
//
//	Facts ──► Statement (in-toto, svr/v0.1) ──► Keyring.Sign ──► envelope (DSSE) ──► Verify ──► Verification
//	            ▲                                                                      ▲
//	            └── DigestOf(rendered documents)        public keys (JWKS or PEM), documents from a file
//
// Invariants:
//   - Nothing of encrypted documents is in a statement: the digest is over what a caller sees who may not see them, and
//     documents that cannot be rendered without them are named instead.
//   - What a file of documents has is either compared with the statement or named by the Verification.
//   - A Verification shows a statement only if one of the given keys has signed it.
package attest
