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
	ratePerSecond = 100
	maxBurst      = 200 // after a quiet time
	maxConcurrent = 16
)

// limiter bounds the rate and the concurrency of requests to an issuer.
type limiter struct {
	now   func() time.Time
	rate  *rate.Limiter
	slots *semaphore.Weighted
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, rate: rate.NewLimiter(ratePerSecond, maxBurst), slots: semaphore.NewWeighted(maxConcurrent)}
}

// acquire waits for a slot until ctx ends. If the rate is exceeded, it fails immediately: a queue would only grow.
func (l *limiter) acquire(ctx context.Context) (release func(), err error) {
	if !l.rate.AllowN(l.now(), 1) {
		return nil, errors.New("the rate limit for checking tokens is exceeded")
	}
	if err := l.slots.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait to check a token: %w", err)
	}
	return func() { l.slots.Release(1) }, nil
}
