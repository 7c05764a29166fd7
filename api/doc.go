// Package api serves revisions over HTTP: Airship Deckhand's API and Purser's additions to it.
//
// It has no domain logic: a handler parses the request, calls a service and writes a view of the result.
//
//	request ─serve─► id, record, compression, budget ─checkBody─► route
//	        ─dispatch─► authorize: who, and whether they may ─► checkParameters ─answer─► attempt ─► handler
//	        ─answerWaiting─► requestInfo.rest, which serve calls: sharedAnswer, of attempts after each change
//	handler: params, uploads, preconditions ─► service ─► views ─► answerWriter
//
// routes.go lists all operations, serve.go has what all requests have in common, dispatch.go what all operations have,
// request.go what handlers share, and server.go puts it all together.
//
// Invariants:
//   - 401 comes before 403, as in Deckhand, and both come before anything is read or looked up.
//   - The status of an error is decided in errors.go and nowhere else. Of errors other than faults, a client learns
//     only the id of its request, under which they are logged.
//   - An answer that cannot be completed ends with its connection, so that nobody mistakes it for a complete one.
//   - Views are made of values that the viewer may see. They are pure and decide nothing.
//   - The memory for bodies is shared among the users, and reserved as a body arrives, not as it is announced. The
//     memory for answers that clients read slowly is bounded too, and such clients keep nobody else waiting.
//   - A request that waits gets no answer that is older than what its client may know, and shares an answer only with
//     requests of viewers with the same rights (answerWaiting).
package api
