// Package mediatype names the media types of answers and chooses among them by the Accept header.
//
// Functions are pure: they read the headers of a request and return a type.
package mediatype

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The media types of answers.
const (
	XYAML = "application/x-yaml"
	YAML  = "application/yaml"
	JSON  = "application/json"
	Text  = "text/plain"
	Patch = "application/json-patch+json"
	Graph = "text/vnd.graphviz"
	SVG   = "image/svg+xml"
	HTML  = "text/html"

	Markdown = "text/markdown"
	Zip      = "application/zip"

	// Events is a stream of Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
	Events = "text/event-stream"
)

// Negotiate returns the media type of an answer: the offered type, YAML or JSON that Accept prefers. Otherwise it is
// application/x-yaml, the reference's only type.
func Negotiate(r *http.Request, offered ...string) string {
	return Preferred(r, XYAML, append(offered, XYAML, YAML, JSON)...)
}

// Preferred returns the offered media type that Accept prefers, the first of several. It returns usual if there is
// none, and for */*.
func Preferred(r *http.Request, usual string, offered ...string) string {
	best, bestQuality := usual, 0.0
	for header := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, params, err := mime.ParseMediaType(strings.TrimSpace(header))
		if err != nil || !slices.Contains(offered, kind) && kind != "*/*" {
			continue
		}
		quality := 1.0
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
			quality = q
		}
		if kind == "*/*" {
			kind = usual
		}
		if quality > bestQuality {
			best, bestQuality = kind, quality
		}
	}
	return best
}
