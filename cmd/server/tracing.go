package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// traces exports traces of requests and of their SQL in the background, with OpenTelemetry's protocol. Nil exports
// none.
//
// Stored data is never exported: traces have requests without bodies and queries, SQL without arguments, and no error
// texts, in which the database may quote its input. The log has the error texts.
type traces struct{ provider *sdk.TracerProvider }

// startTraces returns an exporter of traces to the endpoint named in the environment
// (https://opentelemetry.io/docs/specs/otel/protocol/exporter), or nil if there is none. A collector that does not
// answer has no effect on requests: spans beyond a queue of some thousand are dropped.
func startTraces(ctx context.Context, version string, log *slog.Logger) (*traces, error) {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" || os.Getenv("OTEL_TRACES_EXPORTER") == "none" ||
		cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")) == "" {
		return nil, nil
	}
	var exporter sdk.SpanExporter
	var err error
	protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"))
	switch protocol {
	case "", "http/protobuf":
		exporter, err = otlptracehttp.New(ctx)
	case "grpc":
		exporter, err = otlptracegrpc.New(ctx)
	default:
		err = fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf, which is the default, or grpc; it is %q",
			protocol)
	}
	if err != nil {
		return nil, fmt.Errorf("export traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "purser"), attribute.String("service.version", version),
	), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	log.InfoContext(ctx, "traces are exported")
	batches := sdk.WithBatcher(&discreet{SpanExporter: exporter, log: log})
	return &traces{sdk.NewTracerProvider(batches, sdk.WithResource(about), sdk.WithRawSpanLimits(spanLimits()))}, nil
}

// spanLimits bounds the attributes of a span, because callers choose the length of a path.
func spanLimits() sdk.SpanLimits {
	const maxText = 2000
	limits := sdk.NewSpanLimits() // from the environment
	if limits.AttributeValueLengthLimit < 0 {
		limits.AttributeValueLengthLimit = maxText
	}
	return limits
}

// tracerProvider returns the provider of tracers, nil if no traces are exported.
func (t *traces) tracerProvider() trace.TracerProvider {
	if t == nil {
		return nil
	}
	return t.provider
}

// handler returns a handler that creates a span for each request, in the trace named by its traceparent header.
func (t *traces) handler(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return otelhttp.NewHandler(next, "", otelhttp.WithTracerProvider(t.provider),
		otelhttp.WithMeterProvider(noop.NewMeterProvider()), otelhttp.WithPropagators(propagation.TraceContext{}))
}

// stop exports the remaining spans, within a short time.
func (t *traces) stop() {
	const moment = 3 * time.Second
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), moment)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // discreet logs errors
}

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
