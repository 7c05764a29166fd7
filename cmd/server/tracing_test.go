package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// collector stores the spans sent to it, unless it is unavailable.
type collector struct {
	*tracetest.InMemoryExporter

	away bool
}

func (c *collector) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if c.away {
		return errors.New("refused")
	}
	return c.InMemoryExporter.ExportSpans(ctx, spans)
}

// Error texts, which may quote stored data, are not exported; the error status is.
func TestDiscreet_errors(t *testing.T) {
	t.Parallel()
	c := &collector{InMemoryExporter: tracetest.NewInMemoryExporter()}
	provider := sdk.NewTracerProvider(sdk.WithSyncer(&discreet{SpanExporter: c, log: slog.New(slog.DiscardHandler)}))
	_, span := provider.Tracer("").Start(t.Context(), "SELECT")
	span.RecordError(errors.New("invalid input: hunter2"))
	span.SetStatus(codes.Error, "hunter2")
	span.End()
	got := c.GetSpans()
	if len(got) != 1 || got[0].Status.Code != codes.Error || strings.Contains(fmt.Sprintf("%+v", got), "hunter2") {
		t.Errorf("exported: %+v", got)
	}
}

// An unavailable collector is logged once, and once more when it is available again.
func TestDiscreet_away(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := &collector{InMemoryExporter: tracetest.NewInMemoryExporter()}
	d := &discreet{SpanExporter: c, log: slog.New(slog.NewTextHandler(&log, nil))}
	for _, away := range []bool{false, true, true, true, false, false} {
		c.away = away
		if err := d.ExportSpans(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	if strings.Count(log.String(), "\n") != 2 || strings.Count(log.String(), "refused") != 1 {
		t.Errorf("logged:\n%s", log.String())
	}
}

func TestStartTraces_without(t *testing.T) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		t.Setenv(name, "")
	}
	traces, err := startTraces(t.Context(), "1", slog.New(slog.DiscardHandler))
	if traces != nil || err != nil || traces.tracerProvider() != nil {
		t.Errorf("without an endpoint there are traces: %v, %v", traces, err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "smoke")
	if _, err := startTraces(t.Context(), "1", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "grpc") {
		t.Errorf("an unknown protocol: %v", err)
	}
	for name, value := range map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "none"} {
		t.Setenv(name, value)
		if traces, err := startTraces(t.Context(), "1", slog.New(slog.DiscardHandler)); traces != nil || err != nil {
			t.Errorf("with %s: %v, %v", name, traces, err)
		}
		t.Setenv(name, "")
	}
}
