package feed

import (
	"context"
	"slices"
	"sync"
	"time"

	"purser/internal/budget"
	"purser/internal/fault"
)

// Wait reserves a wait for an owner, of whom none can take all of them (budget.Shares). end must be called. Faults:
// Unavailable if no wait is free, Throttled if its user or its site has its share.
func (s Site) Wait(owner budget.Owner) (end func(), err error) {
	place := s.waits.Try(owner, 1)
	if place != nil {
		of := s.use(s.name)
		s.count(of, 1)
		select {
		case s.arrived <- struct{}{}:
		default:
		}
		return sync.OnceFunc(func() {
			s.count(of, -1)
			s.release(s.name, of)
			place()
		}), nil
	}
	const retryAfter = 5 * time.Second
	refused := fault.New(fault.Throttled, "HTTPTooManyRequests", "As many requests of this user or of this site wait "+
		"already as one may have of the %d that may wait (--max-waits); ask without wait, or later", s.MaxWaits)
	if s.Waiting() >= s.MaxWaits {
		refused = fault.New(fault.Unavailable, "HTTPServiceUnavailable",
			"%d requests wait already, the most that may (--max-waits); ask without wait, or later", s.MaxWaits)
	}
	refused.RetryAfter = retryAfter
	return nil, refused
}

// count counts waits of a site.
func (f *Feed) count(of *site, more int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of.waits += more
}

// Next returns a channel that is closed when the feed changes after the call, provided that the caller has a wait. What
// it reads after the call is up to date until then. turn identifies the present state, for SharedPage.
func (s Site) Next() (turn int64, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.inUse[s.name]; of != nil {
		return of.turn, of.changed
	}
	s.turn++
	return s.turn, nil
}

// Waiting returns the number of waits, of all sites.
func (f *Feed) Waiting() int {
	return int(f.waits.Held())
}

// waited returns the names of the sites where somebody waits, and whether somebody waits for all.
func (f *Feed) waited() (names map[string]bool, all bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	names = map[string]bool{}
	for name, of := range f.inUse {
		if of.waits > 0 {
			names[name] = true
		}
	}
	return names, names[All]
}

const (
	// pollEvery is the interval at which the feed looks for commits of other servers while somebody waits.
	pollEvery = 100 * time.Millisecond
	// restBetween is the shortest time between two looks. Changes collect in it, so that each costs less.
	restBetween = 20 * time.Millisecond
	// idleEvery is the longest time from a change to the numbering of its event while nobody waits.
	idleEvery = time.Second
	// dueEvery is the interval at which the feed looks for verdicts that are due, while somebody waits or webhooks do.
	dueEvery = time.Second
	// pauseAfter is the pause after an error, and the interval of looks while only webhooks wait.
	pauseAfter = time.Second
)

// Run looks for events and wakes waits until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	r := rounds{Feed: f, own: map[string]bool{}, everything: true} // a killed server may have left some
	idle := time.After(idleEvery)
	for ctx.Err() == nil {
		poll := r.lookForWaits(ctx)
		select {
		case <-ctx.Done():
		case <-f.arrived:
			r.rest(ctx)
		case <-poll:
		case <-idle:
			r.catchUp(ctx)
			idle = nil
		case <-f.Store.Committed():
			for _, site := range f.Store.Changed() {
				r.own[site] = true
			}
			if idle == nil {
				idle = time.After(idleEvery)
			}
			r.rest(ctx)
		}
	}
}

// rounds are the looks of Run.
type rounds struct {
	*Feed

	own         map[string]bool     // the sites with commits of this server since it caught up
	everything  bool                // it catches up with all sites
	seen        map[string]Position // of the sites that had news at the last look
	looked, due time.Time           // when it looked last, and when for verdicts that are due
	failing     bool
}

// lookForWaits looks for news if somebody waits or webhooks do. It returns a channel that receives when that is to be
// done again; nil if nobody waits.
func (r *rounds) lookForWaits(ctx context.Context) (again <-chan time.Time) {
	waited, all := r.waited()
	if len(waited) == 0 && !r.Always {
		return nil
	}
	r.looked = time.Now()
	err := r.look(ctx, func(site string) bool { return all || r.Always || waited[site] })
	if err == nil && r.looked.Sub(r.due) >= dueEvery {
		r.due = r.looked
		err = r.numberDue(ctx)
	}
	r.failing = r.report(ctx, err, r.failing)
	if len(waited) == 0 || err != nil {
		return time.After(pauseAfter)
	}
	return time.After(pollEvery)
}

// catchUp numbers the events of this server's commits, or all that wait.
func (r *rounds) catchUp(ctx context.Context) {
	err := r.look(ctx, func(site string) bool { return r.everything || r.own[site] })
	r.failing = r.report(ctx, err, r.failing)
	r.own, r.everything = map[string]bool{}, false
}

// rest waits until the next look may be.
func (r *rounds) rest(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(r.looked.Add(restBetween))):
	}
}

// look numbers the events of those sites that matter, and wakes waits where other servers have numbered some.
func (r *rounds) look(ctx context.Context, matters func(site string) bool) error {
	news, err := r.Store.News(ctx)
	if err != nil {
		return err
	}
	var behind []string
	seen, differs := map[string]Position{}, false
	for _, one := range news {
		if one.Behind {
			if matters(one.Site) {
				behind = append(behind, one.Site)
			}
			continue
		}
		r.wake(one.Site, one.At)
		seen[one.Site] = one.At
		differs = differs || r.seen[one.Site] != one.At
	}
	if r.seen = seen; differs {
		r.wakeAll()
	}
	return r.numberAll(ctx, behind)
}

// behind returns the sites with events that are not numbered, and those with verdicts that are due, of these at most a
// number.
func (f *Feed) behind(ctx context.Context, mostDue int) ([]string, error) {
	news, err := f.Store.News(ctx)
	if err != nil {
		return nil, err
	}
	sites, err := f.Store.Due(ctx, mostDue)
	if err != nil {
		return nil, err
	}
	for _, one := range news {
		if one.Behind {
			sites = append(sites, one.Site)
		}
	}
	return sites, nil
}

// maxDue bounds the sites of which one look numbers verdicts that are due.
const maxDue = 500

// numberDue numbers the changes of verdicts that are due, of as many sites as one look takes.
func (f *Feed) numberDue(ctx context.Context) error {
	due, err := f.Store.Due(ctx, maxDue)
	if err != nil {
		return err
	}
	return f.numberAll(ctx, due)
}

// NumberSites numbers the events of the sites that are wanted which were committed before the call, and the changes of
// their verdicts that are due. Fault: Unavailable if that takes too long.
func (f *Feed) NumberSites(ctx context.Context, wanted func(site string) bool) error {
	const patience, everySite = 5 * time.Second, 1 << 20
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	behind, err := f.behind(limited, everySite)
	if err != nil {
		return err
	}
	behind = slices.DeleteFunc(behind, func(site string) bool { return !wanted(site) })
	for _, site := range behind {
		if _, err := f.Of(site).NumberEvents(limited); err != nil && limited.Err() != nil && ctx.Err() == nil {
			busy := fault.New(fault.Unavailable, "HTTPServiceUnavailable", "The verdicts of %d sites change at once, and not "+
				"all are known yet; ask again in some seconds", len(behind))
			busy.RetryAfter = patience
			return busy
		} else if err != nil {
			return err
		}
	}
	return nil
}

// numberAll numbers the events of sites, and returns the first error. It does not wait long for one that has many.
func (f *Feed) numberAll(ctx context.Context, sites []string) error {
	ctx, cancel := context.WithTimeout(ctx, pauseAfter)
	defer cancel()
	passes := make([]*pass, len(sites))
	for i, site := range sites {
		passes[i] = f.Of(site).join(ctx)
	}
	var first error
	for _, p := range passes {
		select {
		case <-p.done:
			if first == nil {
				first = p.err
			}
		case <-ctx.Done():
		}
	}
	return first
}

// report logs err unless the previous look failed, too. It returns whether this one has failed.
func (f *Feed) report(ctx context.Context, err error, failing bool) bool {
	if err != nil && !failing && ctx.Err() == nil {
		f.Log.WarnContext(ctx, "events cannot be read, so clients do not learn of changes", "error", err.Error())
	}
	return err != nil
}
