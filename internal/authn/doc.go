// Package authn finds out who a request comes from.
//
// An Authenticator turns the text of a token into a Caller: Tokens looks it up in a file of hashes, OIDC checks the
// signature of an issuer, Keystone asks a Keystone v3, Nobody takes everybody for an admin. FromCertificate does the
// same for a TLS client certificate that the listener has verified.
//
// Invariants:
//   - An error is either a *Rejected (the caller's credential counts for nothing: 401) or a fault of kind Unavailable
//     (whoever could tell does not answer: 503). Nothing else is returned.
//   - Nothing of a token stands in an error or in the log, and nothing of what Keystone answers, which names tokens.
//   - All that a Caller says is printable text of bounded length, so that it can stand in a header and in a log line.
//   - Rejecting is cheap: what is too long or has the wrong form is not hashed, what was rejected a moment ago is not
//     asked again, and however many wrong tokens come, an issuer hears of them at a bounded rate.
//   - What was withdrawn counts a bounded time longer, if its issuer answers: a second for a token of a file, a minute
//     for one of Keystone, eleven minutes for those that a withdrawn key has signed.
//   - Nobody waits for a lock that is held while hashing, checking a signature, reading a file or asking somebody.
//   - Nothing runs while no request is answered, except the rest of a fetch that a request began.
package authn
