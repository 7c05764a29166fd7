// Package requests keeps a record of each request: it gives the request an id, collects what becomes known about it,
// and writes that to the log, the metrics, the trace and, for changes, the audit. It knows no route.
//
//	request ─Observer─► id, Info in the context ─Recorder─► … handler ─Of─► Info
//	            │                                   │
//	            └ log, metrics, trace ◄── answer ◄──┴ audit, before the status is sent
//
// Each request has one Info, used only by the goroutine that answers the request. Package access sets the caller,
// handlers the subject, and package answers the outcome.
//
// A request that waits is handled twice. The first time ends without an answer (Paused), and nothing is recorded; the
// second time (Resumed) is recorded as the whole request, without the time of the wait.
package requests
