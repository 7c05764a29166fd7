package budget

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Shares is a weighted semaphore that no owner can keep for himself: whoever holds something gets more only if all that
// he would hold is free as well. So one owner has about half of it, the next one half of the rest, and so on. An owner
// who holds nothing gets whatever is free. The owner "" is the server itself, and has no such bound. Shares is safe for
// concurrent use.
type Shares struct {
	mu      sync.Mutex
	size    int64
	free    int64
	held    map[string]int64 // by owner
	waiting []*claim         // in the order in which they are granted: first the urgent ones
}

// Claim is what is asked for.
type Claim struct {
	Weight int64 // at most the whole size
	Urgent bool  // it comes before claims that are not
	Kept   int64 // what the same work holds already; only what its owner holds beside it counts as his share
}

// claim is a claim of an owner.
type claim struct {
	Claim

	owner   string
	granted chan struct{} // closed once he has it
}

// NewShares returns a semaphore of a size, all of which is free.
func NewShares(size int64) *Shares {
	return &Shares{size: size, free: size, held: map[string]int64{}}
}

// Try takes a weight, at most the whole size, without waiting. It returns nil if the weight is not free, or not within
// the owner's share. Otherwise release must be called, and may be called again.
func (s *Shares) Try(owner string, weight int64) (release func()) {
	c := s.claim(owner, Claim{Weight: weight})
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Weight > s.free || s.exceeds(c) {
		return nil
	}
	s.grant(c)
	return s.releasing(c)
}

// Acquire takes what is claimed for the owner of ctx, and waits until it is free. Claims are granted in the order of
// arrival, urgent ones first; a claim beyond its owner's share lets the others pass. If ctx ends first, the error is
// its cause. Otherwise release must be called, and may be called again.
func (s *Shares) Acquire(ctx context.Context, of Claim) (release func(), err error) {
	c := s.claim(Owner(ctx), of)
	s.mu.Lock()
	at := len(s.waiting)
	if c.Urgent {
		for at > 0 && !s.waiting[at-1].Urgent {
			at--
		}
	}
	s.waiting = slices.Insert(s.waiting, at, c)
	s.serve()
	s.mu.Unlock()
	release = s.releasing(c)
	joined := partyOf(ctx).joined
	defer context.AfterFunc(joined, func() { s.pass(c, Owner(ctx)) })() //nolint:contextcheck // it is a flag
	select {
	case <-c.granted:
		return release, nil
	case <-ctx.Done():
		release()
		return nil, fmt.Errorf("wait for a share: %w", context.Cause(ctx))
	}
}

// pass passes a claim that is waiting to another owner.
func (s *Shares) pass(c *claim, owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.waiting, c) {
		c.owner = owner
		s.serve()
	}
}

// Held returns how much is taken.
func (s *Shares) Held() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size - s.free
}

func (s *Shares) claim(owner string, of Claim) *claim {
	of.Weight = max(0, min(of.Weight, s.size-of.Kept))
	return &claim{of, owner, make(chan struct{})}
}

// releasing returns a function that ends a claim, whether it was granted or not.
func (s *Shares) releasing(c *claim) func() {
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		select {
		case <-c.granted:
			s.free += c.Weight
			if s.held[c.owner] -= c.Weight; s.held[c.owner] == 0 {
				delete(s.held, c.owner)
			}
		default:
			s.waiting = slices.DeleteFunc(s.waiting, func(other *claim) bool { return other == c })
		}
		s.serve()
	})
}

// serve grants the claims that can be granted. A claim for more than is free keeps those behind it waiting; otherwise
// small ones would always come first. The caller holds mu.
func (s *Shares) serve() {
	blocked := false
	s.waiting = slices.DeleteFunc(s.waiting, func(c *claim) bool {
		if blocked || s.exceeds(c) {
			return false
		}
		if blocked = c.Weight > s.free; !blocked {
			s.grant(c)
		}
		return !blocked
	})
}

// exceeds reports whether a claim goes beyond its owner's share. The caller holds mu.
func (s *Shares) exceeds(c *claim) bool {
	held := s.held[c.owner] - c.Kept
	return c.owner != "" && held > 0 && held+c.Weight > s.free
}

// grant grants a claim for what is free. The caller holds mu.
func (s *Shares) grant(c *claim) {
	s.free -= c.Weight
	s.held[c.owner] += c.Weight
	close(c.granted)
}
