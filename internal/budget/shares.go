package budget

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Shares is a weighted semaphore that no user and no site can keep for itself: whoever of both holds something gets
// more only if all that it would hold is free as well. So one has about half of it, the next one half of the rest, and
// so on. Who holds nothing gets whatever is free. The user "" and the site "" are the server itself, and have no such
// bound.
//
// A site has its bound only beside others: while another one holds something, or has asked for something within the
// last ten minutes. So nothing is kept free where one site is in use, and its users may have all of it. A site that
// then comes finds nothing, and is next: from now on the other one gets no more until half is free. While sites wait,
// they take turns: who gets something stands behind the others with the rest of its claims, so that a claim for the
// least lets each other site pass once. Shares is safe for concurrent use.
type Shares struct {
	mu           sync.Mutex
	size         int64
	free         int64
	users, sites map[string]int64 // what they hold
	asked        [2]asked         // the site that asked last, and the one that did before it
	waiting      []*claim         // in the order in which they are granted: first the urgent ones
}

// asked says when a site asked for something.
type asked struct {
	site string
	at   time.Time
}

// beside is how long a site counts after it has asked for something.
const beside = 10 * time.Minute

// Claim is what is asked for.
type Claim struct {
	Weight int64 // at most the whole size
	Urgent bool  // it comes before claims that are not
	Kept   int64 // what the same work holds already; only what its owner holds beside it counts as its share
}

// claim is a claim of an owner.
type claim struct {
	Claim

	owner   Owner
	granted chan struct{} // closed once it has it
}

// NewShares returns a semaphore of a size, all of which is free.
func NewShares(size int64) *Shares {
	return &Shares{size: size, free: size, users: map[string]int64{}, sites: map[string]int64{}}
}

// Try takes a weight, at most the whole size, without waiting. It returns nil if the weight is not free, or not within
// the owner's share. Otherwise release must be called, and may be called again.
func (s *Shares) Try(owner Owner, weight int64) (release func()) {
	c := s.claim(owner, Claim{Weight: weight})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ask(owner.Site)
	if c.Weight > s.free || s.exceeds(c) {
		return nil
	}
	s.grant(c)
	return s.releasing(c)
}

// Acquire takes what is claimed for the owner of ctx, and waits until it is free. Claims are granted in the order of
// arrival, urgent ones first, and sites take turns; a claim beyond its owner's share lets the others pass. If ctx ends
// first, the error is its cause. Otherwise release must be called, and may be called again.
func (s *Shares) Acquire(ctx context.Context, of Claim) (release func(), err error) {
	c := s.claim(OwnerOf(ctx), of)
	s.mu.Lock()
	s.ask(c.owner.Site)
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
	defer context.AfterFunc(joined, func() { s.pass(c, OwnerOf(ctx)) })() //nolint:contextcheck // it is a flag
	select {
	case <-c.granted:
		return release, nil
	case <-ctx.Done():
		release()
		return nil, fmt.Errorf("wait for a share: %w", context.Cause(ctx))
	}
}

// pass passes a claim that is waiting to another owner.
func (s *Shares) pass(c *claim, owner Owner) {
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

// IsShared reports whether a site has others beside it.
func (s *Shares) IsShared(site string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isShared(site)
}

func (s *Shares) claim(owner Owner, of Claim) *claim {
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
			add(s.users, c.owner.User, -c.Weight)
			add(s.sites, c.owner.Site, -c.Weight)
		default:
			s.waiting = slices.DeleteFunc(s.waiting, func(other *claim) bool { return other == c })
		}
		s.serve()
	})
}

// serve grants the claims that can be granted. A claim for more than is free keeps those behind it waiting, and one
// beyond its site's share those of the site; otherwise small ones would always come first. Work that keeps something
// already passes it, because the claim may wait for that. The caller holds mu.
func (s *Shares) serve() {
	blocked := false
	var full map[string]bool // sites with a claim beyond their share
	var served map[turn]bool
	s.waiting = slices.DeleteFunc(s.waiting, func(c *claim) bool {
		site := c.owner.Site
		switch {
		case blocked, beyond(s.users[c.owner.User], c.Claim, s.free), full[site] && c.Kept == 0:
			return false
		case s.isShared(site) && beyond(s.sites[site], c.Claim, s.free):
			full = with(full, site)
			return false
		case c.Weight > s.free:
			blocked = true
			return false
		}
		s.grant(c)
		if s.isShared(site) {
			served = with(served, turn{site, c.Urgent})
		}
		return true
	})
	if served == nil {
		return
	}
	slices.SortStableFunc(s.waiting, func(a, b *claim) int {
		return cmp.Or(rank(!a.Urgent)-rank(!b.Urgent), rank(served[a.turn()])-rank(served[b.turn()]))
	})
}

// turn is what claims take turns by.
type turn struct {
	site   string
	urgent bool
}

func (c *claim) turn() turn { return turn{c.owner.Site, c.Urgent} }

// with returns a set with an element. It makes one only if it must, because most claims are granted at once.
func with[K comparable](set map[K]bool, element K) map[K]bool {
	if set == nil {
		set = map[K]bool{}
	}
	set[element] = true
	return set
}

func rank(later bool) int {
	if later {
		return 1
	}
	return 0
}

// exceeds reports whether a claim goes beyond the share of its user or its site. The caller holds mu.
func (s *Shares) exceeds(c *claim) bool {
	return beyond(s.users[c.owner.User], c.Claim, s.free) ||
		s.isShared(c.owner.Site) && beyond(s.sites[c.owner.Site], c.Claim, s.free)
}

// beyond reports whether a claim goes beyond the share of somebody who holds something.
func beyond(held int64, c Claim, free int64) bool {
	held -= c.Kept
	return held > 0 && held+c.Weight > free
}

// ask notes that a site asks for something. The caller holds mu.
func (s *Shares) ask(site string) {
	if site == "" {
		return
	}
	if s.asked[0].site != site {
		s.asked[1] = s.asked[0]
	}
	s.asked[0] = asked{site, time.Now()}
}

// isShared reports whether a site has others beside it. The caller holds mu.
func (s *Shares) isShared(site string) bool {
	others := len(s.sites)
	if _, holds := s.sites[site]; holds {
		others--
	}
	last := s.asked[0]
	if last.site == site {
		last = s.asked[1]
	}
	return site != "" && (others > 0 || last.site != "" && time.Since(last.at) < beside)
}

// grant grants a claim for what is free. The caller holds mu.
func (s *Shares) grant(c *claim) {
	s.free -= c.Weight
	add(s.users, c.owner.User, c.Weight)
	add(s.sites, c.owner.Site, c.Weight)
	close(c.granted)
}

// add adds to what somebody holds. The server itself is not counted.
func add(held map[string]int64, owner string, weight int64) {
	if owner == "" {
		return
	}
	if held[owner] += weight; held[owner] == 0 {
		delete(held, owner)
	}
}
