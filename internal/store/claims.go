package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"purser/internal/budget"
	"purser/internal/claims"
	"purser/internal/events"
	"purser/internal/queries"
	"purser/internal/revisions"
)

// granted is the outcome of an ask.
type granted struct {
	claims.Granted

	again bool // somebody else was faster; there may be other work
}

// maxAsks is how many workers one group serves: all that wait, as a rule, so that work which appears costs two
// statements.
const maxAsks = 10_000

// Claim implements claims.Store. A claim that is made for a caller who has gone is given back.
func (s *Store) Claim(ctx context.Context, ask claims.Ask) (claims.Granted, error) {
	const tries = 20
	for range tries {
		done, err := s.asks.do(context.WithoutCancel(ctx), ask, 0, s.claimTogether)
		switch gone := context.Cause(ctx); {
		case err != nil:
			return claims.Granted{}, err
		case gone != nil && done.Found:
			err := s.GiveBack(context.WithoutCancel(ctx), done.Token, nil)
			return claims.Granted{}, errors.Join(fmt.Errorf("claim work: %w", gone), err)
		case gone != nil:
			return claims.Granted{}, fmt.Errorf("claim work: %w", gone)
		case !done.again:
			return done.Granted, nil
		}
	}
	return claims.Granted{Next: time.Second}, nil // many others are faster
}

// claimTogether claims work for a group of workers.
func (s *Store) claimTogether(ctx context.Context, asks []claims.Ask) ([]granted, error) {
	ctx, end := budget.Begin(ctx) // it is for others too
	defer end()
	var names []string
	for _, ask := range asks {
		names = append(names, ask.Names...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	work, next, err := s.selectWork(ctx, names, len(asks))
	if err != nil {
		return nil, err
	}
	all := make([]granted, len(asks))
	for i := range all {
		all[i].Next = next
	}
	assigned := claims.Assign(work, asks)
	if len(assigned) == 0 {
		return all, nil
	}
	for _, one := range assigned {
		if one.Of >= 0 {
			all[one.Of].again = true // unless it is granted
		}
	}
	made, err := s.claimWork(ctx, assigned)
	if err != nil {
		return nil, err
	}
	for _, claim := range made {
		if of := claim.Of; of >= 0 {
			all[of] = granted{Granted: claims.Granted{Work: claim.Work, Found: true}}
			continue
		}
		about := revisions.About{
			Revision: claim.Revision, Stamps: []revisions.Stamp{claim.Stamp}, Claim: string(claim.Token),
			Caller: revisions.Caller{Server: true},
		}
		_, _, _ = s.AddResult(ctx, about, claim.Failure()) // if it fails, the claim runs out, and the next one posts it
	}
	return all, nil
}

// claimRecord is an assignment, as ClaimWork reads it.
type claimRecord struct {
	N        int             `json:"n"`
	Revision int64           `json:"revision"`
	Stamp    revisions.Stamp `json:"stamp"`
	Name     string          `json:"name"`
	Token    claims.Token    `json:"token"`
	Before   *claims.Token   `json:"before"` // nil for none
	Worker   string          `json:"worker"`
	UserID   string          `json:"user_id"`
	UserName string          `json:"user_name"`
	Timeout  int64           `json:"timeout"` // milliseconds
	Progress string          `json:"progress"`
	Event    eventRecord     `json:"event"`
	Audit    *auditRecord    `json:"audit"` // nil for none
}

func claimRecordOf(n int, a claims.Assignment) claimRecord {
	made := claimRecord{
		N: n, Revision: a.Revision, Stamp: a.Stamp, Name: a.Validation, Token: a.Ask.Token, Worker: a.Ask.Worker,
		UserID: a.Ask.Caller.ID, UserName: a.Ask.Caller.Name, Timeout: a.Ask.Timeout.Milliseconds(), Progress: a.Progress,
		Event: recordOf(events.Claimed{
			Revision: a.Revision, Stamp: a.Stamp.String(), Name: a.Validation, Worker: a.Ask.Worker, Attempt: a.Attempt + 1,
		}.Event()),
		Audit: (*auditRecord)(a.Ask.Audit),
	}
	if a.Token != "" {
		made.Before = &a.Token
	}
	return made
}

// claimWork claims assigned work in one statement. It returns the claims that were made, as they are now.
func (s *Store) claimWork(ctx context.Context, assigned []claims.Assignment) (made []claims.Assignment, err error) {
	list := make([]claimRecord, len(assigned))
	for i, a := range assigned {
		list[i] = claimRecordOf(i, a)
	}
	records, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("write claims: %w", err)
	}
	err = s.retryTx(ctx, general, s.deadlines.Write, func(ctx context.Context) error {
		made = nil
		rows, err := s.pool.Query(ctx, stmt.ClaimWork, named{"site": s.site, "claims": records})
		if err != nil {
			return err
		}
		var n, attempt int
		var since, expires time.Time
		_, err = pgx.ForEachRow(rows, []any{&n, &attempt, &since, &expires}, func() error {
			a := assigned[n]
			a.State, a.Attempt, a.Since, a.ExpiresAt, a.Token = claims.Claimed, attempt, since, expires, a.Ask.Token
			a.Worker, a.Work.Progress = a.Ask.Worker, a.Progress
			made = append(made, a)
			return nil
		})
		return err
	})
	if HasCode(err, foreignKeyViolation) { // a revision is deleted meanwhile
		return nil, nil
	}
	if len(made) > 0 {
		s.announce()
	}
	return made, err
}

// selectWork returns claimable work of the validations, so much of each at most. next is the time until there may be
// more work; 0 for never.
func (s *Store) selectWork(ctx context.Context, validations []string, each int) (
	work []claims.Work, next time.Duration, err error,
) {
	var seconds *float64
	scan := func(row pgx.CollectableRow) (claims.Work, error) { return scanWork(row, &seconds) }
	found, err := collect(ctx, s.Database, scan,
		stmt.SelectWork, named{"site": s.site, "names": validations, "each": each})
	if err != nil {
		return nil, 0, err
	}
	return slices.DeleteFunc(found, func(w claims.Work) bool { return w.Revision == 0 }), untilNext(seconds), nil
}

// untilNext returns the time until there may be more work; 0 for never.
func untilNext(seconds *float64) time.Duration {
	if seconds == nil {
		return 0
	}
	const least = 10 * time.Millisecond // after the time it has passed
	return max(0, time.Duration(*seconds*float64(time.Second))) + least
}

// scanWork scans work after other columns.
func scanWork(row pgx.CollectableRow, before ...any) (w claims.Work, err error) {
	err = row.Scan(append(before, &w.Revision, &w.Stamp, &w.Validation, &w.State, &w.Attempt, &w.Token, &w.Worker, &w.User,
		(*zeronull.Timestamptz)(&w.Since), (*zeronull.Timestamptz)(&w.ExpiresAt), &w.Progress,
		(*zeronull.Timestamptz)(&w.Requested), &w.Reason)...)
	return w, err
}

// Work implements claims.Store. It asks for one more than is wanted, which shows whether there are more.
func (s *Store) Work(ctx context.Context, page queries.Page) (work []claims.Work, more bool, err error) {
	work, err = collect(ctx, s.Database, func(row pgx.CollectableRow) (claims.Work, error) { return scanWork(row) },
		stmt.ListWork, named{"site": s.site, "offset": page.Offset, "limit": page.Limit + 1})
	if more = len(work) > page.Limit; more {
		work = work[:page.Limit]
	}
	return work, more, err
}

// CountWork implements claims.Store.
func (s *Store) CountWork(ctx context.Context) (map[string]int, error) {
	counts := map[string]int{}
	for _, state := range claims.States() {
		counts[string(state)] = 0
	}
	_, err := collect(ctx, s.Database, func(row pgx.CollectableRow) (none struct{}, err error) {
		var state string
		var n int
		err = row.Scan(&state, &n)
		counts[state] = n
		return none, err
	}, stmt.CountWork, named{"site": s.site})
	return counts, err
}

// claimed is a claim and what became of it.
type claimed struct {
	claims.Work

	last, held, aged bool // it is the last claim to its work; that holds the work, and has done so for as long as one may
	ended            time.Time
}

// findClaim returns a claim. Fault: NotFound.
func (s *Store) findClaim(ctx context.Context, claim claims.Token) (claimed, error) {
	found, err := collect(ctx, s.Database, func(row pgx.CollectableRow) (c claimed, err error) {
		err = row.Scan(&c.Revision, &c.Stamp, &c.Validation, &c.last, &c.held, &c.Attempt, &c.Worker, &c.User, &c.Since,
			&c.ExpiresAt, &c.Progress, (*zeronull.Timestamptz)(&c.ended), &c.aged)
		c.State, c.Token = claims.Claimed, claim
		return c, err
	}, stmt.FindClaim, named{"site": s.site, "claim": string(claim), "age": claims.MaxAge})
	switch {
	case err != nil:
		return claimed{}, err
	case len(found) == 0:
		return claimed{}, claims.Unknown()
	}
	return found[0], nil
}

// fault returns why the claim does not hold its work; nil if it does.
func (c claimed) fault() error {
	switch {
	case !c.ended.IsZero():
		return claims.Over("a result has ended the work")
	case !c.last:
		return claims.Lost(c.Work)
	case !c.held:
		return claims.Over("it was given back")
	case c.aged:
		return claims.Aged(c.Work)
	}
	return nil
}

// FindClaim implements claims.Store.
func (s *Store) FindClaim(ctx context.Context, claim claims.Token) (claims.Work, error) {
	found, err := s.findClaim(ctx, claim)
	return found.Work, err
}

// ExtendClaim implements claims.Store.
func (s *Store) ExtendClaim(ctx context.Context, claim claims.Token, progress *string) (claims.Work, error) {
	rows, err := s.exec(ctx, stmt.ExtendClaim, named{
		"site": s.site, "claim": string(claim), "age": claims.MaxAge, "progress": progress,
	})
	if err != nil {
		return claims.Work{}, err
	}
	found, err := s.findClaim(ctx, claim)
	if err == nil && rows == 0 {
		err = found.fault()
	}
	return found.Work, err
}

// GiveBack implements claims.Store.
func (s *Store) GiveBack(ctx context.Context, claim claims.Token, audit *revisions.AuditEvent) error {
	found, err := s.findClaim(ctx, claim)
	if err != nil {
		return err
	}
	rows, err := s.exec(ctx, stmt.GiveBack, named{
		"site": s.site, "claim": string(claim), "audit": (*auditRecord)(audit), "event": recordOf(events.Claimed{
			Revision: found.Revision, Stamp: found.Stamp.String(), Name: found.Validation, Worker: found.Worker,
			Attempt: found.Attempt, GivenBack: true,
		}.Event()),
	})
	if err != nil {
		return err
	}
	if rows > 0 {
		s.announce()
		return nil
	}
	if found, err = s.findClaim(ctx, claim); err != nil || found.last && !found.held && found.ended.IsZero() {
		return err
	}
	return found.fault()
}

// Request implements claims.Store.
func (s *Store) Request(ctx context.Context, about revisions.About, validation, reason string) (
	work claims.Work, exists bool, err error,
) {
	work = claims.Work{Revision: about.Revision, Validation: validation, Reason: reason}
	err = s.retryTx(ctx, general, s.deadlines.Write, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, stmt.RequestWork, named{
			"site": s.site, "revision": about.Revision, "stamps": about.Stamps, "name": validation, "reason": reason,
			"max_names": revisions.MaxValidations, "audit": (*auditRecord)(about.Audit),
			"event": recordOf(events.Requested{Revision: about.Revision, Name: validation, Reason: reason}.Event()),
		}).Scan(&work.Stamp, (*zeronull.Timestamptz)(&work.Requested))
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return claims.Work{}, false, nil
	case err != nil:
		return claims.Work{}, false, err
	case work.Requested.IsZero():
		return claims.Work{}, true, revisions.TooManyValidations(about.Revision)
	}
	s.announce()
	return work, true, nil
}

// whyUnheld returns why a claim does not hold the work on a validation of a revision: a Repeated error if a result of
// it was stored before, and a fault otherwise.
func (s *Store) whyUnheld(ctx context.Context, about revisions.About, validation string) error {
	before, err := collect(ctx, s.Database, func(row pgx.CollectableRow) (r revisions.Repeated, err error) {
		r.First.Name = validation
		err = row.Scan(&r.Stamp, &r.First.Status, &r.First.Validator, &r.First.CreatedAt)
		return r, err
	}, stmt.ResultOfClaim, named{
		"site": s.site, "revision": about.Revision, "name": validation, "claim": about.Claim,
	})
	if err != nil {
		return err
	}
	if len(before) > 0 {
		return &before[0]
	}
	found, err := s.findClaim(ctx, claims.Token(about.Claim))
	switch {
	case err != nil:
		return err
	case found.Revision != about.Revision || found.Validation != validation:
		return claims.Other(found.Work)
	}
	if err := found.fault(); err != nil {
		return err
	}
	return Unavailable("The claim was being extended or replaced; nothing was stored, send the result again").Unstored()
}
