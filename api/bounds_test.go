package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"purser/internal/budget"
)

// slowClient is the writer of an answer that the client does not read before the deadline.
type slowClient struct {
	http.ResponseWriter

	late chan struct{} // closed by a deadline
}

func (c *slowClient) SetWriteDeadline(time.Time) error {
	close(c.late)
	return nil
}

// An answer that its client does not read blocks no other request, and the total size of such answers is bounded.
func TestBounds_send(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool, bounds := budget.NewPool(1, time.Minute), newBounds(Bounds{Memory: 1})
		send := func(size int) (ctx context.Context, client *slowClient, end func(error)) {
			ctx, done := pool.Begin(t.Context())
			t.Cleanup(done)
			if err := budget.NewMeter(ctx).Admit(); err != nil {
				t.Fatal(err)
			}
			client = &slowClient{httptest.NewRecorder(), make(chan struct{})}
			ctx = context.WithValue(ctx, requestInfoKey{}, &requestInfo{})
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
			return ctx, client, bounds.send(client, r, size)
		}
		late := func(client *slowClient) bool {
			time.Sleep(promptly)
			synctest.Wait()
			select {
			case <-client.late:
				return true
			default:
				return false
			}
		}
		_, first, endFirst := send(maxUnsent)
		if late(first) {
			t.Error("the first answer is broken off")
		}
		ctx, second, endSecond := send(maxUnsent)
		if !late(second) {
			t.Error("a second answer is not broken off")
		}
		endSecond(context.DeadlineExceeded)
		if len(infoOf(httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)).notes) != 1 {
			t.Error("that an answer is broken off is not noted")
		}
		ctx, _, endThird := send(maxUnsent) // is read in time
		endThird(nil)
		budget.Yield(ctx)
		endFirst(nil)
		_, fourth, endFourth := send(2 * maxUnsent)
		if late(fourth) {
			t.Error("an answer is broken off after the others have been read")
		}
		endFourth(nil)
	})
}
