// Package client speaks Purser's API as a client. It knows the wire and nothing of the server's code, YAML apart: types
// for what it decodes, and the errors that the server answers with.
//
//	Request ─> Do ─┬─ token, deadline ─> try ─> answer, read up to MaxBytes
//	               └─ tries again what is safe ──┘
//
// Invariants:
//   - Only what is safe to repeat is sent again: what reads, and a change of which it is sure that it was not made.
//   - All tries together take at most Config.Timeout; a longer Retry-After ends them.
//   - An answer that ends early, or is not what was asked for, is an error. No answer is kept beyond MaxBytes.
//   - The token is sent to the configured server alone: redirects are not followed.
package client
