package answers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-chi/chi/v5"

	"purser/api/requests"
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
func TestWriter_Begin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool, writer := budget.NewPool(1, time.Minute), NewWriter(0)
		send := func(size int) (r *http.Request, client *slowClient, end func(error)) {
			ctx, done := pool.Begin(t.Context())
			t.Cleanup(done)
			if err := budget.NewMeter(ctx).Admit(); err != nil {
				t.Fatal(err)
			}
			client = &slowClient{httptest.NewRecorder(), make(chan struct{})}
			ctx = context.WithValue(ctx, chi.RouteCtxKey, chi.NewRouteContext())
			r = requests.Detach(httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody))
			return r, client, writer.Begin(client, r, size)
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
		r, second, endSecond := send(maxUnsent)
		if !late(second) {
			t.Error("a second answer is not broken off")
		}
		endSecond(context.DeadlineExceeded)
		if len(requests.Of(r).Notes) != 1 {
			t.Error("that an answer is broken off is not noted")
		}
		r, _, endThird := send(maxUnsent) // is read in time
		endThird(nil)
		budget.Yield(r.Context())
		endFirst(nil)
		_, fourth, endFourth := send(2 * maxUnsent)
		if late(fourth) {
			t.Error("an answer is broken off after the others have been read")
		}
		endFourth(nil)
	})
}
