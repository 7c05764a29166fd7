// Package tracing exports traces of requests and of their SQL with OpenTelemetry's protocol. It is configured by
// OpenTelemetry's environment variables (https://opentelemetry.io/docs/specs/otel/protocol/exporter); without an
// endpoint it costs nothing.
//
// Stored data is never exported: traces have requests without bodies and queries, SQL without arguments, and no error
// texts, in which the database may quote its input. The log has the error texts.
package tracing

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

// Traces exports traces in the background. Nil exports none.
type Traces struct{ provider *sdk.TracerProvider }

// Start returns an exporter of traces to the endpoint named in the environment, or nil if there is none. A collector
// that does not answer has no effect on requests: spans beyond a queue of some thousand are dropped.
func Start(ctx context.Context, version string, log *slog.Logger) (*Traces, error) {
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
	return &Traces{sdk.NewTracerProvider(batches, sdk.WithResource(about), sdk.WithRawSpanLimits(limits()))}, nil
}

// limits bounds the attributes of a span, because callers choose the length of a path.
func limits() sdk.SpanLimits {
	const maxText = 2000
	limits := sdk.NewSpanLimits() // from the environment
	if limits.AttributeValueLengthLimit < 0 {
		limits.AttributeValueLengthLimit = maxText
	}
	return limits
}

// Provider returns the provider of tracers, nil if no traces are exported.
func (t *Traces) Provider() trace.TracerProvider {
	if t == nil {
		return nil
	}
	return t.provider
}

// Handler returns a handler that creates a span for each request, in the trace named by its traceparent header.
func (t *Traces) Handler(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return otelhttp.NewHandler(next, "", otelhttp.WithTracerProvider(t.provider),
		otelhttp.WithMeterProvider(noop.NewMeterProvider()), otelhttp.WithPropagators(propagation.TraceContext{}))
}

// Stop exports the remaining spans, within a short time.
func (t *Traces) Stop() {
	const moment = 3 * time.Second
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), moment)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // discreet logs errors
}
