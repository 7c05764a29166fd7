package stream

import (
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"purser/internal/feed"
	"purser/internal/store/evidence"
	"purser/internal/store/journal"
	"purser/internal/store/site"
	"purser/internal/webhooks"
)

// Stream stores the events of a site, and delivers them to webhooks. It is safe for concurrent use.
type Stream struct {
	site     *site.Site
	journal  *journal.Journal
	evidence *evidence.Source
	queue    *river.Client[pgx.Tx] // of deliveries
}

var (
	_ feed.Store     = (*Stream)(nil)
	_ webhooks.Store = (*Stream)(nil)
)

// New returns the stream of a site.
func New(s *site.Site, j *journal.Journal, e *evidence.Source) (*Stream, error) {
	// This client adds deliveries to the queue, but does not work on them.
	queue, err := river.NewClient(riverpgxv5.New(s.Pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, fmt.Errorf("open the queue of webhooks: %w", err)
	}
	return &Stream{s, j, e, queue}, nil
}

// Committed implements feed.Store.
func (s *Stream) Committed() <-chan struct{} { return s.journal.Committed() }
