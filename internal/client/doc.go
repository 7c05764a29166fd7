// Package client speaks Purser's API as a client. It knows the wire and nothing of the server's code: types for what it
// decodes, and the errors that the server answers with.
//
//	Request ─> Do ─┬─ token, deadline ─> try ─> answer, read up to MaxBytes
//	               └─ tries again what is safe ──┘
//
// Invariants:
//   - Only what is safe to repeat is sent again: GET, HEAD, and PUT, which replaces a bucket by the same documents. A
//     PUT with If-Match is sent again only while no try of it can have been made, because the answer to a second one
//     would be 412. A POST or DELETE is never sent twice.
//   - All tries together take at most Config.Timeout; a longer Retry-After ends them.
//   - An answer that ends early, or is not what was asked for, is an error. No answer is kept beyond MaxBytes.
//   - The token is sent to the configured server alone: redirects are not followed.
package client
