// Package authn authenticates callers.
//
// An Authenticator turns the text of a token into a Caller. There are four: Tokens looks the token up in a file of
// hashes, OIDC checks the signature of an issuer, Keystone asks a Keystone v3, and NoAuth makes every caller an admin.
// FromCertificate does the same for a TLS client certificate that the listener has verified, and Authorities.Check says
// whether it is still good.
//
// Invariants:
//   - An error is either a *Rejected (the credential is invalid: 401) or a fault of kind Unavailable (the issuer does
//     not answer: 503). No other error is returned.
//   - No error and no log line contains a part of a token or of Keystone's answers, which contain tokens.
//   - The strings of a Caller are printable and of bounded length, so they are safe in a header and in a log line.
//   - Rejecting is cheap: a token that is too long or malformed is not hashed, one that was rejected a moment ago is
//     not validated again, and the rate at which wrong tokens reach an issuer is bounded.
//   - A revoked credential is accepted for a bounded time while its issuer answers: a second for a token of a file, a
//     minute for one of Keystone, eleven minutes for those that a withdrawn key has signed.
//   - No lock is held while hashing, checking a signature or asking an issuer.
//   - No goroutine runs between requests, except to finish a fetch that a request began.
package authn
