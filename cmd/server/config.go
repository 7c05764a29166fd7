package main

import (
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"purser/api"
	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/words"
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
	MaxBody         byteSize `help:"Size of a request body, decompressed." default:"32MiB" placeholder:"32MiB"`
	MaxDocuments    int      `help:"Documents in a body." default:"100000"`
	SiteDocuments   int      `help:"Documents of the site; changes that would add more are refused." default:"200000"`
	SiteChanges     int64    `help:"Changes of a site in a minute, beside other sites in use; 0: unlimited." default:"600"`
	SiteKeep        int      `help:"Revisions of a site that are kept besides tagged ones; 0: all." default:"0"`
	MaxDocumentSize byteSize `help:"Size of a document, as written and with aliases expanded." default:"4MiB" placeholder:"4MiB"` //nolint:lll // a tag
	MaxDepth        int      `help:"Nesting depth of a document." default:"100"`
	MaxValues       int      `help:"Keys and values of a document, aliases expanded." default:"100000"`

	YAML string `name:"yaml" help:"How YAML is read, fast or strict. fast: by Purser's own reader if possible; strict: always by the YAML library." enum:"fast,strict" default:"fast"` //nolint:lll // a tag

	HeaderTimeout time.Duration `help:"Time for a request's header to arrive." default:"10s"`
	ReadTimeout   time.Duration `help:"Time for a whole request to arrive."    default:"60s"`
	WriteTimeout  time.Duration `help:"Time for an answer to be written."      default:"5m"`

	Memory       byteSize  `help:"Approximate memory that the server may use, such as 512MiB or 2GiB. Default: half of the machine's or container's, at most 1GiB." placeholder:"SIZE"` //nolint:lll // a tag
	IngestMemory *byteSize `help:"Memory for all uploads of documents in progress; others wait. Default: a quarter of --memory, at most 256MiB." placeholder:"SIZE"`                    //nolint:lll // a tag

	EventsKeep days `help:"How long events are kept; the newest 10,000 are kept longer." default:"7d" placeholder:"7d"`
	MaxWaits   int  `help:"Requests that wait for changes at once, streams included." default:"10000"`

	RequestRate int `help:"Requests per second of one user, on average over 10s; 0: unlimited. Not with --auth=none." default:"200"`   //nolint:lll // a tag
	UserIngests int `help:"Uploads of documents that one user may have in progress; 0: unlimited. Not with --auth=none." default:"16"` //nolint:lll // a tag
}

func (f limitFlags) document() document.Limits {
	return document.Limits{
		Body: int64(f.MaxBody), Documents: f.MaxDocuments, Size: int(f.MaxDocumentSize), Depth: f.MaxDepth,
		Values: f.MaxValues, Strict: f.YAML == "strict",
	}
}

// bounds returns the bounds of the API. The bounds per user are left out if all callers are anonymous.
func (f limitFlags) bounds(anonymous bool) api.Bounds {
	bounds := api.Bounds{
		Rate: f.RequestRate, Changes: f.SiteChanges, Keep: int64(f.SiteKeep), Ingests: f.UserIngests,
		Memory:   int64(*f.IngestMemory),
		Patience: f.ReadTimeout, Writing: f.WriteTimeout,
	}
	if anonymous {
		bounds.Rate, bounds.Ingests = 0, 0
	}
	return bounds
}

// pool returns the pool of the requests' budgets. A large request waits for its permit at most as long as its body may
// take to arrive.
func (f limitFlags) pool() *budget.Pool {
	return budget.NewPool(budget.Permits(f.largeMemory()), f.ReadTimeout)
}

// validate refuses the first flag that is less than it may be.
func (f limitFlags) validate() error {
	if f.Memory != 0 && f.Memory < minMemory {
		return errors.New("--memory must be at least 128MiB")
	}
	f = f.withDefaults(defaultMemory)
	for _, flag := range []struct {
		name         string
		value, least int64
	}{
		{"--max-body", int64(f.MaxBody), 1},
		{"--max-documents", int64(f.MaxDocuments), 1},
		{"--site-documents", int64(f.SiteDocuments), 1},
		{"--site-changes", f.SiteChanges, 0},
		{"--site-keep", int64(f.SiteKeep), 0},
		{"--max-document-size", int64(f.MaxDocumentSize), 1},
		{"--max-depth", int64(f.MaxDepth), 1},
		{"--max-values", int64(f.MaxValues), 1},
		{"--header-timeout", int64(f.HeaderTimeout), 1},
		{"--read-timeout", int64(f.ReadTimeout), 1},
		{"--write-timeout", int64(f.WriteTimeout), 1},
		{"--ingest-memory", int64(*f.IngestMemory), 1},
		{"--events-keep", int64(f.EventsKeep), 1},
		{"--max-waits", int64(f.MaxWaits), 0},
		{"--request-rate", int64(f.RequestRate), 0},
		{"--user-ingests", int64(f.UserIngests), 0},
	} {
		switch {
		case flag.value >= flag.least:
		case flag.least == 0:
			return fmt.Errorf("%s must not be negative", flag.name)
		default:
			return fmt.Errorf("%s must be greater than zero", flag.name)
		}
	}
	return nil
}

// days is a time, written as 7d or as Go writes it: 168h.
type days time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *days) UnmarshalText(text []byte) error {
	const day = 24 * time.Hour
	if number, ok := strings.CutSuffix(string(text), "d"); ok {
		if n, err := strconv.ParseInt(number, 10, 32); err == nil && n <= int64(math.MaxInt64/day) {
			*d = days(time.Duration(n) * day)
			return nil
		}
	}
	duration, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a time such as 7d or 12h", text)
	}
	*d = days(duration)
	return nil
}

// logFlags configure the log.
type logFlags struct {
	LogFormat string   `help:"Log format: text or json."  enum:"text,json" default:"text"`
	LogLevel  logLevel `help:"Lowest level to log: debug, info, warn, error." default:"info"`
}

// logLevel is a level as the flag names it.
type logLevel struct{ slog.Level }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *logLevel) UnmarshalText(text []byte) error {
	if l.Level.UnmarshalText(text) != nil {
		return fmt.Errorf("%q is none of debug, info, warn and error", text)
	}
	return nil
}

func (f logFlags) logger(w io.Writer) *slog.Logger {
	w = printable{w}
	options := &slog.HandlerOptions{Level: f.LogLevel.Level, ReplaceAttr: inSeconds}
	if f.LogFormat == "json" {
		return slog.New(api.LogHandler(slog.NewJSONHandler(w, options)))
	}
	return slog.New(api.LogHandler(slog.NewTextHandler(w, options)))
}

// printable writes log records in which all characters are printable: they quote names and addresses of others. Values
// of JSON stay the same.
type printable struct{ io.Writer }

// Write implements io.Writer.
func (p printable) Write(record []byte) (int, error) {
	if _, err := io.WriteString(p.Writer, words.PrintableJSON(string(record))); err != nil {
		return 0, fmt.Errorf("write the log: %w", err)
	}
	return len(record), nil
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
