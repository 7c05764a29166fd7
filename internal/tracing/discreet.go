package tracing

import (
	"context"
	"log/slog"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// discreet exports spans without the texts of errors, and logs when the collector begins and stops failing.
type discreet struct {
	sdk.SpanExporter

	log     *slog.Logger
	failing bool // spans are exported one batch after another
}

// ExportSpans implements sdk.SpanExporter.
func (d *discreet) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	shown := make([]sdk.ReadOnlySpan, len(spans))
	for i, span := range spans {
		shown[i] = quiet{span}
	}
	err := d.SpanExporter.ExportSpans(ctx, shown)
	switch {
	case err != nil && !d.failing:
		d.log.WarnContext(ctx, "traces cannot be exported; they are dropped until they can", "error", err.Error())
	case err == nil && d.failing:
		d.log.InfoContext(ctx, "traces are exported again")
	}
	d.failing = err != nil
	return nil // the SDK would only print it
}

// quiet is a span without the texts of errors.
type quiet struct{ sdk.ReadOnlySpan }

// Events implements sdk.ReadOnlySpan. It hides the events, which are the recorded errors.
func (quiet) Events() []sdk.Event { return nil }

// Status implements sdk.ReadOnlySpan.
func (q quiet) Status() sdk.Status { return sdk.Status{Code: q.ReadOnlySpan.Status().Code} }
