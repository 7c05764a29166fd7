package answers

import (
	"net/http"
	"time"

	"purser/api/requests"
	"purser/internal/budget"
)

// The time that a client may take to read an answer while its request keeps others waiting, and the maximum size of all
// answers that clients take longer to read.
const (
	promptly  = time.Second / 2
	maxUnsent = 128 << 20
)

// Begin begins to write an answer of size bytes; pass the outcome to end. If the client reads slowly, the request gives
// its permit back and the answer counts as unsent; if too many bytes are unsent, the answer is aborted.
func (a *Writer) Begin(w http.ResponseWriter, r *http.Request, size int) (end func(error)) {
	const small = 64 << 10 // fits into the buffers of the connection
	if size <= small {
		return func(error) {}
	}
	ctx, weight := r.Context(), int64(min(size, maxUnsent))
	counted, decided := false, make(chan struct{})
	slow := time.AfterFunc(promptly, func() {
		defer close(decided)
		if counted = a.unsent.TryAcquire(weight); !counted {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now())
		}
		budget.Yield(ctx)
	})
	return func(err error) {
		if slow.Stop() {
			return
		}
		<-decided
		switch {
		case counted:
			a.unsent.Release(weight)
		case err != nil:
			requests.Of(r).Note("break off the answer: too many clients are slow to read theirs")
		}
	}
}
