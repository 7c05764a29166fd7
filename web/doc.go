// Package web serves web pages at /ui/.
//
//	browser ── cookie ──> web ── token, TLS state ──> the API's handler, in this process
//	        <── HTML ────     <── JSON, text, SVG ──
//
// Invariants:
//   - A page is a client of the API: it calls the whole handler, with its authentication, authorization, redaction,
//     limits, audit and log, on behalf of the user. It cannot show what the API would not.
//   - Content of documents is text: html/template escapes it, and characters that control the layout of text are shown
//     as their code points. Pages load only their own style sheet, script and pictures.
//   - A page has at most 150 KB: the bytes of its lists are counted while they are written (paper), and the page says
//     what is left out or links to further pages. The picture of a graph is not included in that.
//   - Pages work without JavaScript.
package web
