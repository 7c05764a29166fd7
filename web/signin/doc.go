// Package signin keeps users signed in by cookies, and lets an OpenID Connect issuer sign them in.
//
//	token ── Begin ──> cookies of a session ── Session ──> token
//
//	Issuer.Begin ──> Attempt, URL of the issuer      Cookies.Keep
//	   the user signs in at the issuer, which sends the browser back with a code
//	Cookies.Take ──> Attempt, code ── Issuer.Tokens ──> tokens, of which the API accepts one
//
// Invariants:
//   - A cookie is encrypted and authenticated, and for one purpose. The server keeps nothing about sessions.
//   - An attempt is valid for ten minutes, in the browser that began it, whose cookie is deleted on its return.
//   - While the issuer does not answer, it is asked once for all users, and no user waits longer than ten seconds.
//   - No error contains a token.
//
// Whether a token is valid is the API's decision, at each request.
package signin
