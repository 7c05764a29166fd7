package sites

import (
	"context"
	"sync/atomic"
	"time"

	"purser/internal/cache"
)

// Directory knows the names of all sites, and the settings of those that requests ask for. They are at most a second
// old; a site that does not exist is looked for each time. It is safe for concurrent use.
type Directory struct {
	store Store
	now   func() time.Time
	turn  atomic.Int64 // counts calls of Forget, so that readings which began before one are not used after it
	known *cache.Cache[known, dated]
	names *cache.Cache[int64, datedNames] // by turn
}

// datedNames are the names of all sites with the time when reading them began.
type datedNames struct {
	names []string
	at    time.Time
}

// known is a key of the cache.
type known struct {
	name string
	turn int64
}

// dated are settings with the time when reading them began.
type dated struct {
	Settings

	at time.Time
}

const (
	maxAge = time.Second
	// directorySize bounds the cache in bytes: it is that of MaxSites with about ten labels each.
	directorySize = 16 << 20
	// namesSize is that of the names of MaxSites, twice.
	namesSize = 4 << 20
)

// NewDirectory returns the directory of a store.
func NewDirectory(store Store, now func() time.Time) *Directory {
	return &Directory{
		store: store, now: now, known: cache.New[known, dated](directorySize), names: cache.New[int64, datedNames](namesSize),
	}
}

// Names returns the names of all sites in alphabetical order, which must not be changed.
func (d *Directory) Names(ctx context.Context) ([]string, error) {
	turn := d.turn.Load()
	if kept, ok := d.names.Get(turn); ok {
		if d.now().Sub(kept.at) < maxAge {
			return kept.names, nil
		}
		d.names.Remove(turn)
	}
	read, err := d.names.Do(ctx, turn, func(ctx context.Context) (datedNames, int, error) {
		at := d.now()
		names, err := d.store.SiteNames(ctx)
		const each = 16 // beside its text
		size := 0
		for _, name := range names {
			size += each + len(name)
		}
		return datedNames{names, at}, size, err
	})
	return read.names, err
}

// Settings returns the settings of a site, which must not be changed. Requests that ask for a site at once share one
// query. Faults: those of Store.
func (d *Directory) Settings(ctx context.Context, name string) (Settings, error) {
	key := known{name, d.turn.Load()}
	if kept, ok := d.known.Get(key); ok {
		if d.now().Sub(kept.at) < maxAge {
			return kept.Settings, nil
		}
		d.known.Remove(key)
	}
	read, err := d.known.Do(ctx, key, func(ctx context.Context) (dated, int, error) {
		at := d.now()
		settings, err := d.store.Settings(ctx, name)
		return dated{settings, at}, sizeOf(name, settings), err
	})
	return read.Settings, err
}

// Forget has the settings of a site read again, after they were changed here.
func (d *Directory) Forget(name string) {
	d.known.Remove(known{name, d.turn.Add(1) - 1})
}

// sizeOf returns about how many bytes settings take.
func sizeOf(name string, settings Settings) int {
	const plain, perLabel = 128, 48
	size := plain + len(name)
	for key, value := range settings.Labels {
		size += perLabel + len(key) + len(value)
	}
	return size
}
