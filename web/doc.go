// Package web serves pages for people at /ui/.
//
//	browser ── cookie ──> web ── token, TLS state ──> the API's handler, in this process
//	        <── HTML ────     <── JSON, text, SVG ──
//
// Invariants:
//   - A page is a client of the API: it asks the whole handler, with its authentication, authorization, redaction,
//     limits, audit and log, on behalf of who looks at it. It cannot show what the API would not.
//   - What comes from documents is text: html/template escapes it, and characters that control how text is laid out are
//     shown by their numbers. Pages load nothing but their own style sheet, script and pictures.
//   - A page has at most 150 KB, whatever it shows: the bytes of its lists are counted while they are written (paper);
//     it says what is left out, or turns pages. The picture of a graph comes on top of that.
//   - Pages work without JavaScript.
package web
