package revisions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"purser/internal/document"
	"purser/internal/fault"
)

// Written is the outcome of a PUT.
type Written struct {
	Revision  int64     // the newest revision afterwards; 0 if there is none
	Documents []*Stored // of the bucket, in the order of the payload
	Changed   bool      // whether a revision was made
}

// How often a change is planned again when other servers append first, and how long it waits at first.
const (
	attempts  = 12
	firstWait = 5 * time.Millisecond
	patience  = 2 * time.Minute // with a database that does not answer
)

// Put makes the documents of a body the content of a bucket; those it leaves out are deleted (spec/api.md §3). Faults:
// Invalid for what cannot be read or is no document, TooLarge beyond limits, Conflict for an identity that lives in
// another bucket or twice in the body, a second LayeringPolicy, or a site that does not stop changing, and
// Unimplemented for encrypted documents. Nothing is stored with a fault.
func (s *Service) Put(ctx context.Context, bucket string, body []byte, media document.Media) (Written, error) {
	began := s.Now()
	segments, err := document.Split(body, media, s.Limits)
	if err != nil {
		return Written{}, err
	}
	s.observe("split", began)
	if len(segments) == 0 && media == document.YAML && len(bytes.TrimSpace(body)) > 0 {
		// A file whose line breaks were lost on the way is one long comment.
		return Written{}, fault.New(fault.Invalid, "HTTPBadRequest",
			"The body holds no document, only comments. To delete all documents of the bucket, send an empty body.")
	}
	in := newIngest(s, segments)
	wait := firstWait
	for range attempts {
		written, err := s.putOnce(ctx, bucket, in)
		if !errors.Is(err, ErrStale) {
			return written, err
		}
		select {
		case <-time.After(wait + rand.N(wait)): //nolint:gosec // jitter needs no secrecy
			wait *= 2
		case <-ctx.Done():
			return Written{}, fmt.Errorf("wait to plan again: %w", ctx.Err())
		}
	}
	return Written{}, fault.New(fault.Conflict, "HTTPConflict",
		"Other changes came first %d times in a row; nothing was stored, send the request again", attempts)
}

// putOnce plans against the newest state and appends, alone among this process's requests.
func (s *Service) putOnce(ctx context.Context, bucket string, in *ingest) (Written, error) {
	// Most of the work is decoding; it is done before the turn to write comes.
	if _, err := s.prepare(ctx, bucket, in); err != nil {
		return Written{}, err
	}
	select {
	case <-s.writer:
	case <-ctx.Done():
		return Written{}, fmt.Errorf("wait to write: %w", ctx.Err())
	}
	defer func() { s.writer <- struct{}{} }()
	ctx, cancel := context.WithTimeout(ctx, patience) // others wait
	defer cancel()
	return s.write(ctx, bucket, in)
}

// prepare reads the newest state of the bucket and decodes what it does not know.
func (s *Service) prepare(ctx context.Context, bucket string, in *ingest) (Bucket, error) {
	state, err := s.Store.Bucket(ctx, bucket)
	if err != nil {
		return Bucket{}, fmt.Errorf("read bucket: %w", err)
	}
	return state, in.decode(ctx, state)
}

func (s *Service) write(ctx context.Context, bucket string, in *ingest) (Written, error) {
	state, err := s.prepare(ctx, bucket, in)
	if err != nil {
		return Written{}, err
	}
	began := s.Now()
	change, err := s.plan(ctx, state, in)
	if err != nil {
		return Written{}, err
	}
	if !s.worthARevision(change, in) {
		s.Store.Remember(state, change.Result)
		return Written{Revision: state.Revision, Documents: change.Result}, nil
	}
	began = s.observe("plan", began)
	if err := s.judge(ctx, &change); err != nil {
		return Written{}, err
	}
	began = s.observe("check", began)
	if err := s.Store.Append(ctx, change); err != nil {
		return Written{}, fmt.Errorf("append revision: %w", err)
	}
	s.observe("store", began)
	return Written{Revision: change.Revision.ID, Documents: change.Result, Changed: true}, nil
}

// worthARevision tells whether a PUT makes a revision (spec/api.md §3.3, §0 C2).
func (s *Service) worthARevision(change Change, in *ingest) bool {
	if s.Compat {
		return len(in.segments) > 0 || change.Against.Changed > 0
	}
	return len(change.Added)+len(change.Removed) > 0
}
