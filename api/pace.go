package api

import (
	"io"
	"net/http"
	"time"
)

// After slowestStart, at least minPace bytes of a body must have arrived for each second.
const (
	minPace      = 4 << 10
	slowestStart = 10 * time.Second
)

// paced reads a body that must not arrive too slowly.
type paced struct {
	io.ReadCloser

	deadline func(time.Time) error // sets that of reading
	patience time.Duration         // for all of it
	began    time.Time
	received int64
}

// pace returns the body of a request. Reading it fails with os.ErrDeadlineExceeded if it takes longer than patience, or
// arrives too slowly.
func paceOf(w http.ResponseWriter, body io.ReadCloser, patience time.Duration) *paced {
	deadline := http.NewResponseController(w).SetReadDeadline
	return &paced{ReadCloser: body, deadline: deadline, patience: patience, began: time.Now()}
}

// pause stops the clock, and removes the deadline, until resume is called. Read sets it again.
func (p *paced) pause() (resume func()) {
	p.end()
	at := time.Now()
	return func() { p.began = p.began.Add(time.Since(at)) }
}

// Read implements io.Reader.
func (p *paced) Read(buffer []byte) (int, error) {
	_ = p.deadline(p.began.Add(p.due())) // writers without deadlines, such as those of tests, return an error
	n, err := p.ReadCloser.Read(buffer)
	p.received += int64(n)
	return n, err
}

// due returns the time since the beginning after which more must have arrived.
func (p *paced) due() time.Duration {
	return min(p.patience, max(slowestStart, time.Duration(p.received)*time.Second/minPace))
}

// end removes the deadline, which would otherwise end the request while it is handled.
func (p *paced) end() { _ = p.deadline(time.Time{}) }
