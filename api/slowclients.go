package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"purser/internal/budget"
	"purser/internal/fault"
)

// The time that a client may take to read an answer while its request keeps others waiting, and the maximum size of all
// answers that clients take longer to read, which is shared among the callers.
const (
	promptly  = time.Second / 2
	maxUnsent = 128 << 20
)

// An answer is written in parts of partSize bytes, each of which the client must have read in partTime.
const (
	partSize = 256 << 10
	partTime = 30 * time.Second
)

const smallAnswer = 64 << 10 // an answer that fits into the buffers of the connection

// try reserves the memory of size bytes that a stream of documents holds until its client has read it; end releases it.
// It is nil if the caller or the site has its share.
func (a *answerWriter) try(ctx context.Context, size int) (end func()) {
	if size <= smallAnswer {
		return func() {}
	}
	return a.unsent.Try(budget.OwnerOf(ctx), int64(size))
}

// reserve is try, but waits for memory. The request gives its permit back. Fault: Unavailable.
func (a *answerWriter) reserve(ctx context.Context, size int) (end func(), err error) {
	budget.Yield(ctx)
	waiting, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	end, err = a.unsent.Acquire(waiting, budget.Claim{Weight: int64(size)})
	if err == nil || ctx.Err() != nil {
		return end, err
	}
	busy := fault.New(fault.Unavailable, "HTTPServiceUnavailable", "Clients that read slowly have kept the memory for "+
		"answers in use for %v; ask again", partTime)
	busy.RetryAfter = time.Second
	return nil, busy
}

// writeParts writes a text to a client, who must read each part of it in time, and all of it until a time.
func writeParts(w http.ResponseWriter, text []byte, until time.Time) error {
	if len(text) <= smallAnswer {
		_, err := w.Write(text)
		return err
	}
	control := http.NewResponseController(w)
	for part := range slices.Chunk(text, partSize) {
		due := time.Now().Add(partTime)
		if until.Before(due) {
			due = until
		}
		_ = control.SetWriteDeadline(due) // tests have writers without deadlines
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// begin begins to write an answer of size bytes; pass the outcome to end. If the client reads slowly, the request gives
// its permit back and the answer counts as unsent; if too many bytes are unsent, the answer is aborted.
func (a *answerWriter) begin(w http.ResponseWriter, r *http.Request, size int) (end func(error)) {
	if size <= smallAnswer {
		return func(error) {}
	}
	ctx, decided := r.Context(), make(chan struct{})
	var release func()
	slow := time.AfterFunc(promptly, func() {
		defer close(decided)
		if release = a.unsent.Try(budget.OwnerOf(ctx), int64(size)); release == nil {
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
		case release != nil:
			release()
		case err != nil:
			infoOf(r).note("break off the answer: too many clients are slow to read theirs")
		}
	}
}
