// Package web serves web pages at /ui/.
//
//	browser ── cookie ──> web ── token, TLS state ──> the API's handler, in this process
//	        <── HTML ────     <── JSON, text, SVG ──
//
// A handler asks the API by package backend, which decodes answers into the values of internal/client and package wire.
// The pure packages reasons, display and graph turn these into what a page shows, and package layout writes the page.
// Package signin knows the user's token.
//
//	backend ── wire ──> reasons, display, graph ── a view ──> layout
//
// Invariants:
//   - A page is a client of the API: it asks the whole handler, with its authentication, authorization, redaction,
//     limits, audit and log, on behalf of its user. It cannot show more than the API.
//   - Document content is text: it becomes no markup, no script and no link elsewhere.
//   - Pages work without JavaScript.
package web
