// Package backend calls the API in this process, on behalf of the user of a browser's request.
//
//	Call ── path, query, token, TLS state ──> the API's handler
//	     <── Answer, or *Refusal ────────────
//
// Invariants:
//   - A call passes the API's whole handler, with its authentication, authorization, limits, audit and log.
//   - An answer is in memory, and has at most 32 MiB.
//   - Each error answer becomes a *Refusal. Other errors are faults of the server, or say that the user disconnected.
package backend
