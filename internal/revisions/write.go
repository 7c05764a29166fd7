package revisions

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"purser/internal/fault"
)

// Written is the outcome of a change.
type Written struct {
	Revision  int64     // the newest revision afterwards; 0 if there is none
	Epoch     int64     // purges there were before
	Documents []*Stored // of the buckets that were filled, in the order of the payload
	Buckets   []string  // that were written, sorted
	Changed   bool      // whether a revision was made
	Shown     Shown     // that revision, of a rollback
	Preview   *Preview  // of a dry run, which makes none
}

// draft is a change on its way. It is planned against the newest state, and once more when that has moved on.
type draft interface {
	// prepare reads the newest state and does what needs no turn to write.
	prepare(ctx context.Context) (Head, error)
	// plan works out what changes in the state that was read last. worth tells whether that makes a revision.
	plan(ctx context.Context) (change Change, worth bool, err error)
}

// How often a change is planned again when other servers append first, and how long it waits at first.
const (
	attempts  = 60
	firstWait = 5 * time.Millisecond
	lastWait  = 80 * time.Millisecond // who waits longer than others would lose again and again
	patience  = 2 * time.Minute       // with a database that does not answer
)

// carryOut makes a draft a revision, if it changes anything. Faults: those of the draft; Stale if the newest revision
// is not one that the terms expect; Conflict with a site that does not stop changing. Nothing is stored with a fault.
func (s *Service) carryOut(ctx context.Context, d draft, kind Kind, terms Terms) (Written, error) {
	wait := firstWait
	for range attempts {
		written, err := s.attempt(ctx, d, kind, terms)
		if !errors.Is(err, ErrMoved) {
			return written, err
		}
		select {
		case <-time.After(wait + rand.N(wait)): //nolint:gosec // jitter needs no secrecy
			wait = min(2*wait, lastWait)
		case <-ctx.Done():
			return Written{}, fmt.Errorf("wait to plan again: %w", ctx.Err())
		}
	}
	return Written{}, fault.New(fault.Conflict, "HTTPConflict",
		"Other changes came first %d times in a row; nothing was stored, send the request again", attempts)
}

// attempt plans against the newest state and appends, alone among this process's requests.
func (s *Service) attempt(ctx context.Context, d draft, kind Kind, terms Terms) (Written, error) {
	// Most of the work is decoding; it is done before the turn to write comes.
	head, err := d.prepare(ctx)
	if err == nil {
		err = terms.Expected.Check(head)
	}
	switch {
	case err != nil:
		return Written{}, err
	case terms.DryRun:
		return s.rehearse(ctx, d, kind, terms)
	}
	select {
	case <-s.writer:
	case <-ctx.Done():
		return Written{}, fmt.Errorf("wait to write: %w", ctx.Err())
	}
	defer func() { s.writer <- struct{}{} }()
	turn, cancel := context.WithTimeout(ctx, patience) // others wait
	defer cancel()
	if head, err = d.prepare(turn); err == nil {
		err = terms.Expected.Check(head)
	}
	if err != nil {
		return Written{}, err
	}
	written, err := s.write(turn, d, kind, terms)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fault.New(fault.Unavailable, "HTTPServiceUnavailable",
			"The change took longer than %v, and whether it was stored is not known; look at the newest revision", patience)
	}
	return written, err
}

func (s *Service) write(ctx context.Context, d draft, kind Kind, terms Terms) (Written, error) {
	change, worth, err := s.judged(ctx, d, kind, terms)
	if err != nil {
		return Written{}, err
	}
	if !worth {
		s.Store.Remember(change.Against, change.Result)
		return Written{
			Revision: change.Against.Revision, Epoch: change.Against.Epoch, Documents: change.Result,
		}, nil
	}
	var shown Shown
	if kind == Rollback { // once it is stored, nothing may get in the way of telling so
		if shown, err = s.previewVerdict(ctx, &change, worth); err != nil {
			return Written{}, err
		}
	}
	for _, doc := range change.Added {
		doc.Secret = nil // what is sealed is kept sealed
	}
	began := s.Now()
	if err := s.Store.Append(ctx, change); err != nil {
		return Written{}, fmt.Errorf("append revision: %w", err)
	}
	s.observe("store", began)
	if change.rendered != nil {
		s.renditions.keep(renditionKey{change.Against.Epoch, change.Revision.ID, false}, *change.rendered)
	}
	return Written{
		Revision: change.Revision.ID, Epoch: change.Against.Epoch, Documents: change.Result,
		Buckets: change.Revision.Buckets, Changed: true, Shown: shown,
	}, nil
}

// judged plans a draft and works out what its revision's schema validation finds, if it makes one.
func (s *Service) judged(ctx context.Context, d draft, kind Kind, terms Terms) (Change, bool, error) {
	began := s.Now()
	change, worth, err := d.plan(ctx)
	if err != nil {
		return Change{}, false, err
	}
	began = s.observe("plan", began)
	change.Revision.CreatedAt = s.Now().UTC()
	change.Revision.Kind, change.Revision.Reason = kind, terms.Reason
	if !worth {
		return change, false, nil
	}
	if err := s.seal(ctx, &change); err != nil {
		return Change{}, false, err
	}
	if err := s.judge(ctx, &change); err != nil {
		return Change{}, false, err
	}
	if err := s.validateWhole(ctx, &change); err != nil {
		return Change{}, false, err
	}
	s.observe("check", began)
	return change, true, nil
}
