package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// maxTries is the maximum number of times that a request is sent.
const maxTries = 6

// repeat sends a request, and repeats it while the server is unavailable or busy, if that is safe (see again) and time
// remains.
func (c *Client) repeat(ctx context.Context, r Request, once func() (Answer, error)) (Answer, error) {
	intervals := backoff.NewExponentialBackOff() // starting at half a second, with jitter
	waited := time.Duration(0)
	for try := 1; ; try++ {
		answer, err := once()
		if err == nil || try == maxTries || c.Once || !r.again(err) {
			return answer, c.explained(r, err)
		}
		wait := intervals.NextBackOff()
		if refused, ok := errors.AsType[*Error](err); ok && refused.After > 0 {
			wait = refused.After
		}
		if waited += wait; waited > c.Timeout {
			return answer, fmt.Errorf("%w\nIt would be tried again after %v, which is beyond %s", err,
				wait.Round(100*time.Millisecond), cmp.Or(c.advice("--timeout"), "the timeout"))
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

// again reports whether a request may be sent again after an error: a read, or a change that was certainly not made.
// Any other change may have been made and then been changed by another user, whose change a second try would undo.
func (r Request) again(err error) bool {
	if gone, ok := errors.AsType[*lost](err); ok {
		return !gone.final && !errors.Is(err, context.DeadlineExceeded) && (r.reads() || r.Again || gone.unsent)
	}
	refused, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	switch refused.Status {
	case http.StatusTooManyRequests:
		return true
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return r.reads() || r.Again || refused.Unstored
	}
	return false
}

// reads reports whether a request changes nothing.
func (r Request) reads() bool {
	return r.Question || r.Method == "" || r.Method == http.MethodGet || r.Method == http.MethodHead ||
		r.Query.Get("dry-run") == "true"
}

// explained returns the error of a request that is not repeated. It adds a warning if a change may have been made.
func (c *Client) explained(r Request, err error) error {
	gone, broken := errors.AsType[*lost](err)
	refused, answered := errors.AsType[*Error](err)
	switch {
	case r.reads(), !broken && !answered:
	case broken && !gone.unsent && !gone.final, answered && refused.Status/100 == 5 && !refused.Unstored:
		return fmt.Errorf("%w\nWhether the change was made is not known: look%s before you make it again", err,
			c.advice(fmt.Sprintf(" (`purser log%[1]s`, `purser diff latest~1%[1]s`)", c.SiteFlag)))
	}
	return err
}
