// Package api serves revisions over HTTP: Airship Deckhand's API and Purser's additions to it.
//
// It has no domain logic: a handler parses the request, calls a service and writes a view of the result.
//
//	request ─waitingRoom.pausing─► observer, auditRecorder: id, log, audit
//	        ─► answerWriter.recover, compressed ─► budget ─► checkBodyType ─► route
//	        ─► gate: who, and whether they may ─► checkParameters ─► waitingRoom ─► handler
//	handler: params, uploads, preconditions ─► service ─► views ─► answerWriter
//
// routes.go lists all operations, dispatch.go does for each what all have in common, request.go has what handlers
// share, and server.go puts it all together.
package api
