package authn

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
)

// minFetchInterval is the shortest time between fetches, however many tokens name an unknown key. Keystone locks users
// out after too many wrong passwords.
const minFetchInterval = 5 * time.Second

// fetched is a value that is fetched from an issuer when a request needs it.
type fetched[T any] struct {
	now      func() time.Time
	state    atomic.Pointer[attempt[T]] // replaced only while fetching
	fetching singleflight.Group
}

// attempt is the result of a fetch. It is immutable.
type attempt[T any] struct {
	value T
	tried time.Time // zero: never
	err   error
}

// last returns the result of the last fetch.
func (f *fetched[T]) last() attempt[T] {
	if a := f.state.Load(); a != nil {
		return *a
	}
	return attempt[T]{}
}

// mayFetch reports whether the value may be fetched again.
func (f *fetched[T]) mayFetch() bool {
	tried := f.last().tried
	return tried.IsZero() || f.now().Sub(tried) >= minFetchInterval
}

// fetchOnce starts a fetch, unless one is under way or has just ended. fetch returns the value to use from now on, also
// with an error. The fetch does not end with the request that started it, because other requests may wait for it too.
func (f *fetched[T]) fetchOnce(ctx context.Context,
	fetch func(ctx context.Context, last attempt[T]) (T, error),
) <-chan singleflight.Result {
	return f.fetching.DoChan("", func() (any, error) {
		if !f.mayFetch() {
			return nil, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		value, err := fetch(ctx, f.last())
		f.state.Store(&attempt[T]{value, f.now(), err})
		return nil, nil
	})
}
