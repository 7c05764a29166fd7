// Package api serves revisions over HTTP: Airship Deckhand's API and Purser's additions to it.
//
// It has no domain logic: a handler parses the request, calls a service and writes a view of the result.
//
//	request ─waiting.Pausing─► requests.Observer, requests.Recorder: id, log, audit
//	        ─► answers.Recover, compress.Answers ─► budget ─► bodies.CheckType ─► route
//	        ─► access.Gate: who, and whether they may ─► parameters.Check ─► waiting.Room ─► handler
//	handler: parameters, bodies, conditions ─► service ─► views ─► answers.Writer
//
// routes.go lists all operations, dispatch.go does for each what all have in common, request.go has what handlers
// share, and server.go puts it all together.
package api
