package revisions

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"purser/internal/fault"
)

// Written is the outcome of a change.
type Written struct {
	Revision  int64     // the newest revision afterwards; 0 if there is none
	Documents []*Stored // of the buckets that were filled, in the order of the payload
	Buckets   []string  // that were written, sorted
	Changed   bool      // whether a revision was made
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
	attempts  = 12
	firstWait = 5 * time.Millisecond
	patience  = 2 * time.Minute // with a database that does not answer
)

// carryOut makes a draft a revision, if it changes anything. Faults: those of the draft; Stale if the newest revision
// is not one that the terms expect; Conflict with a site that does not stop changing. Nothing is stored with a fault.
func (s *Service) carryOut(ctx context.Context, d draft, kind Kind, terms Terms) (Written, error) {
	wait := firstWait
	for range attempts {
		written, err := s.attempt(ctx, d, kind, terms)
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
	ctx, cancel := context.WithTimeout(ctx, patience) // others wait
	defer cancel()
	if head, err = d.prepare(ctx); err == nil {
		err = terms.Expected.Check(head)
	}
	if err != nil {
		return Written{}, err
	}
	return s.write(ctx, d, kind, terms)
}

func (s *Service) write(ctx context.Context, d draft, kind Kind, terms Terms) (Written, error) {
	change, worth, err := s.judged(ctx, d, kind, terms)
	if err != nil {
		return Written{}, err
	}
	if !worth {
		s.Store.Remember(change.Against, change.Result)
		return Written{Revision: change.Against.Revision, Documents: change.Result}, nil
	}
	began := s.Now()
	if err := s.Store.Append(ctx, change); err != nil {
		return Written{}, fmt.Errorf("append revision: %w", err)
	}
	s.observe("store", began)
	if change.rendered != nil {
		s.renditions.keep(renditionKey{change.Against.Epoch, change.Revision.ID}, *change.rendered)
	}
	return Written{
		Revision: change.Revision.ID, Documents: change.Result, Buckets: change.Revision.Buckets, Changed: true,
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
	if err := s.judge(ctx, &change); err != nil {
		return Change{}, false, err
	}
	if err := s.validateWhole(ctx, &change); err != nil {
		return Change{}, false, err
	}
	s.observe("check", began)
	return change, true, nil
}

// touched are the buckets in which a change adds or removes documents, sorted.
func (c *Change) touched() []string {
	var buckets []string
	for _, doc := range slices.Concat(c.Added, c.Removed) {
		buckets = append(buckets, doc.Bucket)
	}
	slices.Sort(buckets)
	return slices.Compact(buckets)
}
