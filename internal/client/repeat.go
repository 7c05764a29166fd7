package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// maxTries bounds how often a request is sent.
const maxTries = 6

// repeat sends a request until its answer is not one of a server that is away or busy, or until its time is over.
func (c *Client) repeat(ctx context.Context, r Request, once func() (Answer, error)) (Answer, error) {
	intervals := backoff.NewExponentialBackOff() // half a second and more, with jitter
	waited := time.Duration(0)
	for try := 1; ; try++ {
		answer, err := once()
		if err == nil || try == maxTries || !r.again(err) {
			return answer, err
		}
		wait := intervals.NextBackOff()
		if refused, ok := errors.AsType[*Error](err); ok && refused.After > 0 {
			wait = refused.After
		}
		if waited += wait; waited > c.Timeout {
			return answer, fmt.Errorf("%w\nIt would be tried again after %v, which is beyond --timeout", err, wait)
		}
		c.Notice(fmt.Sprintf("%v; trying again in %v", err, wait.Round(100*time.Millisecond)))
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			if canceled(ctx) {
				return answer, context.Canceled
			}
			return answer, err
		}
	}
}

// again reports whether a request may be sent again after an error.
func (r Request) again(err error) bool {
	reading := r.Question || r.Method == "" || r.Method == http.MethodGet || r.Method == http.MethodHead
	unmade := false // it cannot have been made
	if gone, ok := errors.AsType[*lost](err); ok {
		if gone.final || errors.Is(err, context.DeadlineExceeded) {
			return false
		}
		unmade = gone.unsent
	} else if refused, ok := errors.AsType[*Error](err); ok {
		switch refused.Status {
		case http.StatusTooManyRequests:
			unmade = true
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		default:
			return false
		}
	} else {
		return false
	}
	return reading || r.Method == http.MethodPut && (r.IfMatch == "" || unmade)
}
