// Package mediatype names the media types of answers and chooses among them by the Accept header.
//
// Functions are pure: they read the headers of a request and return a type.
package api

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The media types of answers.
const (
	typeXYAML = "application/x-yaml"
	typeYAML  = "application/yaml"
	typeJSON  = "application/json"
	typeText  = "text/plain"
	typePatch = "application/json-patch+json"
	typeDot   = "text/vnd.graphviz"
	typeSVG   = "image/svg+xml"
	typeHTML  = "text/html"

	typeMarkdown = "text/markdown"
	typeZip      = "application/zip"

	// Events is a stream of Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
	typeEvents = "text/event-stream"
)

// negotiate returns the media type of an answer: the offered type, YAML or JSON that Accept prefers. Otherwise it is
// application/x-yaml, Deckhand's only type.
func negotiate(r *http.Request, offered ...string) string {
	return preferredType(r, typeXYAML, append(offered, typeXYAML, typeYAML, typeJSON)...)
}

// preferredType returns the offered media type that Accept prefers, the first of several. It returns usual if there is
// none, and for */*.
func preferredType(r *http.Request, usual string, offered ...string) string {
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
