package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"purser/internal/budget"
	"purser/internal/fault"
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
		pool, writer := budget.NewPool(1, time.Minute), newAnswerWriter(0, time.Minute)
		send := func(size int) (r *http.Request, client *slowClient, end func(error)) {
			ctx, done := pool.Begin(t.Context())
			t.Cleanup(done)
			if err := budget.NewMeter(ctx).Admit(); err != nil {
				t.Fatal(err)
			}
			client = &slowClient{httptest.NewRecorder(), make(chan struct{})}
			ctx = context.WithValue(ctx, infoKey{}, &requestInfo{})
			r = httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
			return r, client, writer.begin(client, r, size)
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
		if len(infoOf(r).notes) != 1 {
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

// A caller gets about half of the memory for streams; a stream that waits for memory gets it once another one ends, or
// is refused.
func TestWriter_Reserve(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		writer := newAnswerWriter(0, time.Minute)
		slow, other := ownedBy(t, "slow"), ownedBy(t, "other")
		first := writer.try(slow, maxUnsent/2)
		if first == nil || writer.try(slow, maxUnsent/4) != nil {
			t.Error("a caller has more than his share, or nothing")
		}
		if writer.try(slow, smallAnswer) == nil {
			t.Error("a small answer is refused")
		}
		end := writer.try(other, maxUnsent/2)
		if end == nil {
			t.Fatal("another caller has no share")
		}
		end()
		if _, err := writer.reserve(slow, maxUnsent/2); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("while it is in use: %v", err)
		}
		reserved := make(chan error)
		go func() {
			_, err := writer.reserve(slow, maxUnsent/2)
			reserved <- err
		}()
		synctest.Wait()
		first()
		if err := <-reserved; err != nil {
			t.Errorf("after it is free: %v", err)
		}
	})
}

// deadlines notes the deadlines of an answer, each after the parts before it took a while to be read.
type deadlines struct {
	http.ResponseWriter

	began time.Time
	all   []time.Duration
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.all = append(d.all, at.Sub(d.began))
	return nil
}

func (d *deadlines) Write(text []byte) (int, error) {
	time.Sleep(20 * time.Second)
	return len(text), nil
}

// Each part of a large answer has 30 seconds, and all of it as long as the server allows.
func TestWriteParts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &deadlines{ResponseWriter: httptest.NewRecorder(), began: time.Now()}
		if err := writeParts(d, make([]byte, smallAnswer), d.began.Add(time.Minute)); err != nil || d.all != nil {
			t.Errorf("a small answer: %v, %v", d.all, err)
		}
		d.began = time.Now()
		if err := writeParts(d, make([]byte, 2*partSize+1), d.began.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if want := []time.Duration{30 * time.Second, 50 * time.Second, time.Minute}; !slices.Equal(d.all, want) {
			t.Errorf("the deadlines are %v, want %v", d.all, want)
		}
	})
}
