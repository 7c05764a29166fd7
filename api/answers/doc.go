// Package answers writes answers: views and texts with their media type and ETag, and errors as envelopes.
//
//	view ─Write─► text of the media type that Accept prefers ─Send─► 304 if the client has it ─Deliver─► bytes
//	error ─Fail─► fault as the viewer may see it ─► status and envelope ─Write─► bytes
//
// Invariants:
//   - The status of an error is decided here and nowhere else.
//   - Errors other than faults are logged; all that the client learns of them is the request's id.
//   - A client that reads slowly keeps no other request waiting: its request gives its permit to work back, and the
//     size of all such answers is bounded.
//   - An answer that cannot be completed ends with its connection, so that nobody mistakes it for a complete one.
package answers
