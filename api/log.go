package api

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"purser/internal/words"
)

// LogHandler returns a handler of log records that adds the identity of the current request: its id, the caller's
// X-Context-Marker, and the trace.
func LogHandler(next slog.Handler) slog.Handler { return logHandler{next} }

type logHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (l logHandler) Handle(ctx context.Context, record slog.Record) error {
	if info, ok := ctx.Value(infoKey{}).(*requestInfo); ok {
		record = record.Clone()
		record.AddAttrs(slog.String("request", info.id))
		if info.marker != "" {
			record.AddAttrs(slog.String("context_marker", info.marker))
		}
		if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
			record.AddAttrs(slog.String("trace_id", span.TraceID().String()))
		}
	}
	return l.Handler.Handle(ctx, record) //nolint:wrapcheck // a decorator
}

// WithAttrs implements slog.Handler.
func (l logHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return logHandler{l.Handler.WithAttrs(attributes)}
}

// WithGroup implements slog.Handler.
func (l logHandler) WithGroup(name string) slog.Handler { return logHandler{l.Handler.WithGroup(name)} }

// The number of bytes logged of a path or query, and of a context marker.
const maxLogged, maxMarker = 1000, 200

// loggedQuery returns a query for the log. It leaves out values that may be secrets: those of unknown parameters,
// parameters without "=", and search terms.
func loggedQuery(raw string, known []string) string {
	var parts []string
	size := 0
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		if size > maxLogged {
			break
		}
		name, _, valued := strings.Cut(part, "=")
		plain, err := url.QueryUnescape(name)
		if err != nil || plain == searchParameter || !slices.Contains(known, plain) {
			if part = "…"; valued {
				part = name + "=…"
			}
		}
		parts, size = append(parts, part), size+len(part)+1
	}
	return words.FirstBytes(strings.Join(parts, "&"), maxLogged)
}
