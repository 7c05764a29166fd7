// Package metrics registers the metrics of the server and the site; docs/monitoring.md lists them. Names
// and units follow Prometheus' conventions (https://prometheus.io/docs/practices/naming). The values of labels are
// bounded: routes of the API, methods and status codes that it knows, and some dozens of validations.
package metrics

import (
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Process registers the version of the server, and metrics of the Go runtime and of the process.
func Process(registry *prometheus.Registry, version string) {
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "purser_build_info", Help: "The version of the server and of Go that built it; the value is 1.",
	}, []string{"version", "goversion"})
	info.WithLabelValues(version, runtime.Version()).Set(1)
	registry.MustRegister(info, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
}

// Requests registers metrics of HTTP requests, and returns a function that counts one. Its arguments must have
// few values.
func Requests(registry *prometheus.Registry) func(route, method string, status int, took time.Duration) {
	const shortest, factor, buckets = 0.0005, 2, 16 // to 16 s
	total := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "purser_http_requests_total", Help: "Requests answered, by route, method and status.",
	}, []string{"route", "method", "status"})
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "purser_http_request_duration_seconds", Help: "Time to answer a request, by route and method.",
		Buckets: prometheus.ExponentialBuckets(shortest, factor, buckets),
	}, []string{"route", "method"})
	registry.MustRegister(total, duration)
	return func(route, method string, status int, took time.Duration) {
		total.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
		duration.WithLabelValues(route, method).Observe(took.Seconds())
	}
}

// Phases registers the time that changes spend in each phase, and returns a function that adds to it.
func Phases(registry *prometheus.Registry) func(phase string, took time.Duration) {
	const shortest, factor, buckets = 0.0001, 4, 10 // to 26 s
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "purser_ingest_phase_duration_seconds",
		Help: "Time a change spent in a phase: split, decode, plan, check, pack, store; turn is how long others waited " +
			"for it.",
		Buckets: prometheus.ExponentialBuckets(shortest, factor, buckets),
	}, []string{"phase"})
	registry.MustRegister(duration)
	return func(phase string, took time.Duration) { duration.WithLabelValues(phase).Observe(took.Seconds()) }
}

// Refusals registers the number of refused sign-ins, and returns a function that counts one of a kind of credential,
// token or certificate.
func Refusals(registry *prometheus.Registry) func(credential string) {
	return counterOf(registry, "purser_refused_sign_ins_total",
		"Requests refused for their token or client certificate; without either, a request is not counted.",
		"credential", "token", "certificate")
}

// Deliveries registers the number of attempts to deliver events to webhooks, and returns a function that counts one by
// the state of the delivery after it.
func Deliveries(registry *prometheus.Registry) func(state string) {
	return counterOf(registry, "purser_webhook_attempts_total",
		"Attempts to deliver an event to a webhook, by the state after it: delivered, pending (it failed and is repeated), "+
			"failed (it was the last one).",
		"state", "delivered", "pending", "failed")
}

// counterOf registers a counter with a label, and returns a function that counts one of a value. The values that are
// known have a sample from the start, so that rates see the first one counted.
func counterOf(registry *prometheus.Registry, name, help, label string, values ...string) func(value string) {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	for _, value := range values {
		counter.WithLabelValues(value)
	}
	registry.MustRegister(counter)
	return func(value string) { counter.WithLabelValues(value).Inc() }
}

// Waits registers the number of requests that wait for changes; waiting is called at each scrape.
func Waits(registry *prometheus.Registry, waiting func() int) {
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "purser_waiting_requests", Help: "Requests that wait for a change, and streams of events.",
	}, func() float64 { return float64(waiting()) }))
}

// Pool is the state of the pool of connections to the database.
type Pool struct {
	Idle, Used, Max int32         // connections
	Waits           int64         // number of times that a request waited for a connection
	Waited          time.Duration // total time of these waits
}

// Connections registers the state of the connection pool; stat is called at each scrape.
func Connections(registry *prometheus.Registry, stat func() Pool) {
	gauge := func(name, help string, labels prometheus.Labels, value func(Pool) float64) {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels},
			func() float64 { return value(stat()) }))
	}
	counter := func(name, help string, value func(Pool) float64) {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return value(stat()) }))
	}
	const connections = "purser_database_connections"
	for state, value := range map[string]func(Pool) float64{
		"idle": func(p Pool) float64 { return float64(p.Idle) },
		"used": func(p Pool) float64 { return float64(p.Used) },
	} {
		gauge(connections, "Open connections to the database, by state.", prometheus.Labels{"state": state}, value)
	}
	gauge(connections+"_max", "How many connections to the database there may be.", nil,
		func(p Pool) float64 { return float64(p.Max) })
	counter("purser_database_connection_waits_total", "How often a request waited for a connection to the database.",
		func(p Pool) float64 { return float64(p.Waits) })
	counter("purser_database_connection_wait_seconds_total", "How long requests waited for a connection to the database.",
		func(p Pool) float64 { return p.Waited.Seconds() })
}
