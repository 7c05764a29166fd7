// Package layout writes pages as HTML: it has the templates, the static files that pages load, and the URLs of pages.
//
//	Frame with a page's data ── Write, by a template ──> Paper ── WriteTo ──> the browser
//	                                 │ Fit, Left, Turn: as many items of a list as have room
//
// templates/layout.html has what all pages have, templates/parts.html what several have, and templates/pages has a file
// for each page, whose data is a view of package web.
//
// Invariants:
//   - html/template escapes all texts; texts of documents are cut by package display first. A finished page has no
//     control characters and none that change the direction of text, also in attributes (Paper.WriteTo); what a form
//     sends exactly is therefore in its URL.
//   - A page has at most 150 KB, whatever it shows: the bytes of its lists are counted while they are written (Paper);
//     it mentions omitted parts, or has further pages. The picture of a graph is not included in the bound.
//   - Pages load nothing but their own style sheet, script and pictures.
package layout
