// Package web serves web pages at /ui/, and about sites at /sites/{site}/ui/.
//
//	browser ── cookie ──> web ── token, TLS state ──> the API's handler, in this process
//	        <── HTML ────     <── JSON, text, SVG ──
//
// A handler requests what it shows by package internal/client, whose transport calls the API's handler. Pure functions
// turn the answers, values of package wire, into a view: verdicts in words (verdict.go, requirement.go), lines of a
// document with its findings (lines.go), unified diffs as rows (comparison.go), pictures and lists of dependencies
// (drawing.go, nodes.go). A template writes the view on a pageBuffer: templates/layout.html has what all pages have,
// templates/parts.html what several have, and templates/pages a file for each page. Package signin knows the user's
// token.
//
// The page of a push to many sites (push.go) is sent while it is made: its template ranges over the progress of the
// push, which ends when the browser disconnects. So nothing goes on, and nothing is kept, for which no page is open.
//
// The path in front of /ui/ is taken from a request before it is routed (place.go); a visit calls the API of that site,
// and the links of its page are below pageBuffer.Base.
//
// Invariants:
//   - A page is a client of the API: it asks the whole handler, with its authentication, authorization, redaction,
//     limits and audit, on behalf of its user. It cannot show more than the API, and decides nothing: whether a
//     revision may be deployed, and the advice for a finding, come from the API.
//   - A view makes a bounded number of calls, whatever the site holds; a push a bounded number for each site. It is one
//     line of the log and one request in the metrics, unless it lasts as long as what it tells of (record.go).
//   - An answer of the API is in memory, and has at most 32 MiB.
//   - Document content is text: it becomes no markup, no script and no link elsewhere. html/template escapes all texts.
//     A finished page has no control characters and none that change the direction of text, also in attributes
//     (pageBuffer.WriteTo); what a form sends exactly is therefore in its URL. A picture has only the elements and
//     attributes of an allowlist. No line of a document is taken for a header of a diff.
//   - A page has at most 150 KB, whatever it shows, without the picture of a graph and an uploaded file in its form:
//     the bytes of its lists are counted while they are written (pageBuffer); it mentions omitted parts, or has further
//     pages.
//   - Pages load nothing but their own style sheet, script and pictures, and work without JavaScript.
package web
