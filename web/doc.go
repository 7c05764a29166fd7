// Package web serves web pages at /ui/.
//
//	browser ── cookie ──> web ── token, TLS state ──> the API's handler, in this process
//	        <── HTML ────     <── JSON, text, SVG ──
//
// Invariants:
//   - A page is a client of the API: it asks the whole handler, with its authentication, authorization, redaction,
//     limits, audit and log, on behalf of its user. It cannot show more than the API.
//   - Document content is text: html/template escapes it, and characters that control the layout of text are
//     shown by their numbers. Pages load nothing but their own style sheet, script and pictures.
//   - A page has at most 150 KB, whatever it shows: the bytes of its lists are counted while they are written (paper);
//     it mentions omitted parts, or has further pages. The picture of a graph is not included in the bound.
//   - Pages work without JavaScript.
package web
