package api

import (
	"iter"
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
	for kind, quality := range preferences(r.Header.Values("Accept")) {
		if kind == "*/*" {
			kind = usual
		} else if !slices.Contains(offered, kind) {
			continue
		}
		if quality > bestQuality {
			best, bestQuality = kind, quality
		}
	}
	return best
}

// preferences yields what a client lists in the values of an Accept header, with its quality. It omits items that
// cannot be read.
func preferences(values []string) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for item := range strings.SplitSeq(strings.Join(values, ","), ",") {
			name, params, err := mime.ParseMediaType(strings.TrimSpace(item))
			if err != nil {
				continue
			}
			quality, err := strconv.ParseFloat(params["q"], 64)
			if err != nil {
				quality = 1
			}
			if !yield(name, quality) {
				return
			}
		}
	}
}
