package authn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

const (
	asksPerSecond = 100
	mostAsks      = 16  // at the same time
	asksAtOnce    = 200 // that may come at once after a quiet time
)

// lane bounds how often and how many at a time somebody is asked about tokens. Tokens that were good before have a lane
// of their own, so that a flood of wrong ones does not keep their owners out.
type lane struct {
	now   func() time.Time
	rate  *rate.Limiter
	slots *semaphore.Weighted
}

func newLane(now func() time.Time) *lane {
	return &lane{now: now, rate: rate.NewLimiter(asksPerSecond, asksAtOnce), slots: semaphore.NewWeighted(mostAsks)}
}

// enter waits for a slot while ctx lasts. Beyond the rate it fails at once: those who waited would only be more.
func (l *lane) enter(ctx context.Context) (leave func(), err error) {
	if !l.rate.AllowN(l.now(), 1) {
		return nil, errors.New("more tokens than may be asked about in a second")
	}
	if err := l.slots.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait to ask about a token: %w", err)
	}
	return func() { l.slots.Release(1) }, nil
}
