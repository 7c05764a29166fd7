package queries

import (
	"context"
	"fmt"
	"time"

	"purser/internal/budget"
	"purser/internal/revisions"
)

// Waivers are waivers as they were at a time.
type Waivers struct {
	Now     time.Time // by the database's clock; zero if there are none
	Waivers []revisions.Waiver
	More    bool // there are others after them
}

// Waivers returns all waivers of a revision, in the order in which they were made. Faults: NotFound, Gone.
func (v View) Waivers(ctx context.Context, revision int64) (Waivers, error) {
	found, err := v.store.WaiversOf(ctx, revision)
	if err != nil {
		return found, fmt.Errorf("read waivers: %w", err)
	}
	if len(found.Waivers) == 0 {
		_, err = v.Stamp(ctx, revision)
		return found, err
	}
	return found, v.hold(ctx, found)
}

// AllWaivers returns a page of the waivers of all revisions, or of the active ones; those that end first come first.
func (v View) AllWaivers(ctx context.Context, page Page, active bool) (Waivers, error) {
	found, err := v.store.Waivers(ctx, page, active)
	if err != nil {
		return found, fmt.Errorf("list waivers: %w", err)
	}
	return found, v.hold(ctx, found)
}

// Everywhere knows the waivers of all sites.
type Everywhere interface {
	// WaiversOfSites returns a page of the waivers of sites, or of all if among is nil, or of the active ones; those that
	// end first come first.
	WaiversOfSites(ctx context.Context, among []string, page Page, active bool) (Waivers, error)
}

// WaiversOfSites returns a page of the waivers of sites, as Everywhere.WaiversOfSites does.
func (v View) WaiversOfSites(ctx context.Context, all Everywhere, among []string, page Page, active bool) (
	Waivers, error,
) {
	found, err := all.WaiversOfSites(ctx, among, page, active)
	if err != nil {
		return found, fmt.Errorf("list waivers: %w", err)
	}
	return found, v.hold(ctx, found)
}

// hold charges waivers that will be shown to the budget, and notes when the first of them expires.
func (v View) hold(ctx context.Context, found Waivers) error {
	const each, copies = 500, 3 // as read, as JSON, as YAML
	size := 0
	for _, w := range found.Waivers {
		size += each + copies*(len(w.Validation)+len(w.Reason)+len(w.By)+len(w.EndedBy))
		if w.State(found.Now) == revisions.ActiveWaiver {
			v.lasts(w.Until, found.Now)
		}
	}
	if err := budget.NewMeter(ctx).Hold(size); err != nil {
		return fmt.Errorf("hold %d waivers: %w", len(found.Waivers), err)
	}
	return nil
}
