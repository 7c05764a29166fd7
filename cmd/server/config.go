package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"purser/api"
	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/store"
	"purser/internal/store/local"
)

// databaseFlags say where the site is kept.
type databaseFlags struct {
	DatabaseURL string `help:"Postgres (14 or newer) to keep the site in. Without it the server runs a private one of its own." placeholder:"postgres://…"` //nolint:lll // a tag
	StateDir    string `help:"Where the private Postgres lives." default:"${statedir}" type:"path"`
}

// open returns the URL of the database and what stops it, if it is the server's own.
func (f databaseFlags) open(ctx context.Context, log *slog.Logger) (url string, stop func(), err error) {
	if f.DatabaseURL != "" {
		return f.DatabaseURL, func() {}, nil
	}
	cluster, err := local.Start(ctx, f.StateDir, log)
	if err != nil {
		return "", nil, fmt.Errorf("start the private Postgres: %w", err)
	}
	return cluster.URL(), func() { stopCluster(cluster, log) }, nil //nolint:contextcheck // ctx has ended by then
}

func stopCluster(cluster *local.Cluster, log *slog.Logger) {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := cluster.Stop(ctx); err != nil {
		log.Error("stop the private Postgres", "error", err.Error())
	}
}

// defaultStateDir is where the machine keeps the state of services, or of the user's programs.
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

// limitFlags bound what a client may ask for.
type limitFlags struct {
	MaxBody         int64 `help:"Bytes of a request body, decompressed."                          default:"33554432"`
	MaxDocuments    int   `help:"Documents of a body."                                             default:"100000"`
	MaxDocumentSize int   `help:"Bytes of one document, as written and with its aliases expanded." default:"4194304"`
	MaxDepth        int   `help:"Nesting of one document."                                         default:"100"`
	MaxValues       int   `help:"Keys and values of one document."                                 default:"100000"`

	HeaderTimeout time.Duration `help:"Time for a request's header to arrive." default:"10s"`
	ReadTimeout   time.Duration `help:"Time for a whole request to arrive."    default:"60s"`
	WriteTimeout  time.Duration `help:"Time for a request to be answered."     default:"5m"`
	CacheSize     int           `help:"Bytes of documents kept in memory."     default:"16777216"`
	IngestMemory  int64         `help:"Bytes that bodies of documents may have together; others wait." default:"268435456"`

	LargeMemory int64 `help:"Bytes that requests with much work may have together, in steps of 256 MiB; others wait." default:"268435456"` //nolint:lll // a tag

	RequestRate int `help:"Requests a second that one user may send, on average over 10s; 0: any number. Not with --auth=none." default:"200"` //nolint:lll // a tag
	UserIngests int `help:"Bodies of documents that one user may have under way; 0: any number. Not with --auth=none."         default:"16"`   //nolint:lll // a tag
}

func (f limitFlags) document() document.Limits {
	return document.Limits{
		Body: f.MaxBody, Documents: f.MaxDocuments, Size: f.MaxDocumentSize, Depth: f.MaxDepth, Values: f.MaxValues,
	}
}

var errLimits = errors.New("the limits (--max-…, --…-memory) and timeouts (--…-timeout) must be greater than " +
	"zero, --cache-size, --request-rate and --user-ingests not below it")

// bounds are those of the interface. Where everybody is the same user, there is nobody to be kept from the others.
func (f limitFlags) bounds(anonymous bool) api.Bounds {
	bounds := api.Bounds{
		Rate: f.RequestRate, Ingests: f.UserIngests, Memory: f.IngestMemory, Patience: f.ReadTimeout,
	}
	if anonymous {
		bounds.Rate, bounds.Ingests = 0, 0
	}
	return bounds
}

// pool is what all requests share. A large one waits as long for its turn as it may take to arrive.
func (f limitFlags) pool() *budget.Pool {
	return budget.NewPool(budget.Permits(f.LargeMemory), f.ReadTimeout)
}

func (f limitFlags) validate() error {
	limits := []int64{
		f.MaxBody, int64(f.MaxDocuments), int64(f.MaxDocumentSize), int64(f.MaxDepth), int64(f.MaxValues),
		int64(f.CacheSize) + 1, f.IngestMemory, f.LargeMemory, int64(f.RequestRate) + 1, int64(f.UserIngests) + 1,
		int64(f.HeaderTimeout), int64(f.ReadTimeout), int64(f.WriteTimeout),
	}
	for _, limit := range limits {
		if limit <= 0 {
			return errLimits
		}
	}
	return nil
}

// logFlags say what is logged, and how.
type logFlags struct {
	LogFormat string     `help:"Log format: ${enum}."  enum:"text,json" default:"text"`
	LogLevel  slog.Level `help:"Least severe level that is logged: debug, info, warn, error." default:"info"`
}

func (f logFlags) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: f.LogLevel}
	if f.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// migrateCommand brings the database up to date.
type migrateCommand struct {
	databaseFlags `embed:""`
	logFlags      `embed:""`
}

// Run is called by kong.
func (c *migrateCommand) Run(ctx context.Context, stderr io.Writer) error {
	log := c.logger(stderr)
	url, stop, err := c.open(ctx, log)
	if err != nil {
		return err
	}
	defer stop()
	if err := store.Migrate(ctx, url); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	log.InfoContext(ctx, "the database is up to date")
	return nil
}
