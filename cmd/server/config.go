package main

import (
	"errors"
	"io"
	stdlog "log"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"purser/api"
	"purser/internal/budget"
	"purser/internal/document"
)

// defaultStateDir returns the usual directory for the state of a service if run as root, or else for that of a user's
// programs.
func defaultStateDir() string {
	if os.Geteuid() == 0 {
		return "/var/lib/purser"
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "purser")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ".purser"
	}
	return filepath.Join(home, ".local", "state", "purser")
}

// limitFlags bound the costs of requests, and select how bodies are read.
type limitFlags struct {
	MaxBody         int64 `help:"Size of a request body in bytes, decompressed."                     default:"33554432"`
	MaxDocuments    int   `help:"Documents in a body."                                               default:"100000"`
	MaxDocumentSize int   `help:"Size of a document in bytes, as written and with aliases expanded." default:"4194304"`
	MaxDepth        int   `help:"Nesting depth of a document."                                             default:"100"`
	MaxValues       int   `help:"Keys and values of a document, aliases expanded."                   default:"100000"`

	YAML string `name:"yaml" help:"How YAML is read: ${enum}. fast: by Purser's own reader if possible; strict: always by the YAML library." enum:"fast,strict" default:"fast"` //nolint:lll // a tag

	HeaderTimeout time.Duration `help:"Time for a request's header to arrive." default:"10s"`
	ReadTimeout   time.Duration `help:"Time for a whole request to arrive."    default:"60s"`
	WriteTimeout  time.Duration `help:"Time for an answer to be written."      default:"5m"`

	Memory       byteSize `help:"Approximate memory that the server may use, such as 512MiB or 2GiB. Default: half of the machine's or container's, at most 1GiB." placeholder:"SIZE"`                                                         //nolint:lll // a tag
	CacheSize    *int     `help:"Size in bytes of each of four caches: documents of buckets, all live documents, rendered revisions, YAML; one of rendered documents has twice the size. Default: a twelfth of --memory." placeholder:"BYTES"` //nolint:lll // a tag
	IngestMemory *int64   `help:"Bytes of memory for all uploads of documents in progress; others wait. Default: a quarter of --memory, at most 256 MiB." placeholder:"BYTES"`                                                                 //nolint:lll // a tag

	EventsKeep time.Duration `help:"How long events are kept; the newest 10,000 are kept longer." default:"168h"`
	MaxWaits   int           `help:"Requests that wait for changes at once, streams included." default:"10000"`

	LargeMemory int64 `help:"Bytes of memory for all large requests in progress, in steps of 256 MiB; others wait." default:"268435456"` //nolint:lll // a tag

	RequestRate int `help:"Requests per second of one user, on average over 10s; 0: unlimited. Not with --auth=none." default:"200"`   //nolint:lll // a tag
	UserIngests int `help:"Uploads of documents that one user may have in progress; 0: unlimited. Not with --auth=none." default:"16"` //nolint:lll // a tag
}

func (f limitFlags) document() document.Limits {
	return document.Limits{
		Body: f.MaxBody, Documents: f.MaxDocuments, Size: f.MaxDocumentSize, Depth: f.MaxDepth, Values: f.MaxValues,
		Strict: f.YAML == "strict",
	}
}

var errLimits = errors.New("limits (--max-…, --…-memory), timeouts (--…-timeout) and --events-keep must be greater " +
	"than zero, --memory at least 128MiB, and --cache-size, --request-rate, --user-ingests and --max-waits not negative")

// bounds returns the bounds of the API. The bounds per user are left out if all callers are anonymous.
func (f limitFlags) bounds(anonymous bool) api.Bounds {
	bounds := api.Bounds{
		Rate: f.RequestRate, Ingests: f.UserIngests, Memory: *f.IngestMemory, Patience: f.ReadTimeout,
	}
	if anonymous {
		bounds.Rate, bounds.Ingests = 0, 0
	}
	return bounds
}

// pool returns the pool of the requests' budgets. A large request waits for its permit at most as long as its body may
// take to arrive.
func (f limitFlags) pool() *budget.Pool {
	return budget.NewPool(budget.Permits(f.LargeMemory), f.ReadTimeout)
}

func (f limitFlags) validate() error {
	if f.Memory != 0 && f.Memory < minMemory {
		return errLimits
	}
	f = f.withDefaults(defaultMemory)
	limits := []int64{
		f.MaxBody, int64(f.MaxDocuments), int64(f.MaxDocumentSize), int64(f.MaxDepth), int64(f.MaxValues),
		int64(*f.CacheSize) + 1, *f.IngestMemory, f.LargeMemory, int64(f.RequestRate) + 1, int64(f.UserIngests) + 1,
		int64(f.HeaderTimeout), int64(f.ReadTimeout), int64(f.WriteTimeout), int64(f.EventsKeep), int64(f.MaxWaits) + 1,
	}
	for _, limit := range limits {
		if limit <= 0 {
			return errLimits
		}
	}
	return nil
}

// logFlags configure the log.
type logFlags struct {
	LogFormat string     `help:"Log format: ${enum}."  enum:"text,json" default:"text"`
	LogLevel  slog.Level `help:"Lowest level to log: debug, info, warn, error." default:"info"`
}

func (f logFlags) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: f.LogLevel, ReplaceAttr: inSeconds}
	if f.LogFormat == "json" {
		return slog.New(api.RequestLog(slog.NewJSONHandler(w, options)))
	}
	return slog.New(api.RequestLog(slog.NewTextHandler(w, options)))
}

// adopt redirects the messages that libraries write to the standard logger of package log to a log, as warnings.
func adopt(to *slog.Logger) {
	stdlog.SetFlags(0)
	stdlog.SetOutput(shortener{slog.NewLogLogger(to.Handler(), slog.LevelWarn).Writer()})
}

// shortener truncates each message written to it: net/http quotes up to 4 KiB of a webhook receiver's answer.
type shortener struct{ io.Writer }

// Write implements io.Writer.
func (s shortener) Write(message []byte) (int, error) {
	const most = 200 // bytes
	_, err := s.Writer.Write(message[:min(len(message), most)])
	return len(message), err
}

// inSeconds converts durations to numbers of seconds, and adds the unit to their keys.
func inSeconds(_ []string, attribute slog.Attr) slog.Attr {
	if attribute.Value.Kind() != slog.KindDuration {
		return attribute
	}
	return slog.Float64(attribute.Key+"_seconds", attribute.Value.Duration().Seconds())
}
