// Package client is a client of Purser's API. It shares with the server only YAML and the types of answers in package
// wire; it has its own type for the server's errors.
//
//	Request ─> Do ─┬─ token, deadline ─> try ─> answer, read up to MaxBytes
//	               └─ tries again what is safe ──┘
//
// Invariants:
//   - Only requests that are safe to repeat are sent again: reads, and changes that were certainly not made.
//   - All tries together take at most Config.Timeout; a longer Retry-After ends them.
//   - An answer that is truncated or of another type is an error. At most MaxBytes of an answer are kept.
//   - The token is sent only to the configured server: redirects are not followed.
package client
