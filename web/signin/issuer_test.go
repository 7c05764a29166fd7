package signin

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// hanging is an issuer that does not answer until it is released.
type hanging struct {
	asked    atomic.Int32
	answered atomic.Bool
}

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	h.asked.Add(1)
	if !h.answered.Load() {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	text := `{"issuer": "https://id.example", "authorization_endpoint": "https://id.example/a", "token_endpoint": "https://id.example/t"}`
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewBufferString(text)), Request: r,
	}, nil
}

// TestIssuer_hangs checks that users do not wait for one another while the issuer does not answer: it is asked once,
// all end at its deadline, and those whose client disconnects end immediately.
func TestIssuer_hangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{}
		i := &Issuer{OIDC: OIDC{Issuer: "https://id.example", Client: &http.Client{Transport: h}}}
		began := time.Now()
		ends := func(patience, want time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if _, err := i.discovered(ctx); err == nil || time.Since(began) != want {
				t.Errorf("it ended after %v with %v, want %v", time.Since(began), err, want)
			}
		}
		go ends(time.Second, time.Second) // goes away; it has asked first
		synctest.Wait()
		for range 20 {
			go ends(time.Minute, issuerPatience)
		}
		time.Sleep(issuerPatience) // of the bubble's clock
		synctest.Wait()
		if asked := h.asked.Load(); asked != 1 {
			t.Errorf("the issuer was asked %d times", asked)
		}
		h.answered.Store(true)
		for range 2 {
			if _, err := i.discovered(t.Context()); err != nil || h.asked.Load() != 2 {
				t.Errorf("%v, asked %d times", err, h.asked.Load())
			}
		}
	})
}
