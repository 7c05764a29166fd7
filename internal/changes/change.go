package changes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/secrets"
	"purser/internal/validations"
)

// Written is the outcome of a change.
type Written struct {
	Revision       int64                    // the newest revision afterwards; 0 if there is none
	Stamp          revisions.Stamp          // of it, or of the last purge
	Documents      []*revisions.Stored      // of the buckets that were filled, in the order of the payload
	Items          []Item                   // the payload's items that Documents were read from
	Buckets        []string                 // that were written, sorted
	Changed        bool                     // a revision was made
	Rewritten      int                      // documents that were given other texts or places in files, without a revision
	Refollows      bool                     // buckets have other upstreams, without a revision
	Audited        bool                     // the audit event was recorded with the revision
	RevisionStatus revisions.RevisionStatus // the revision that was made
	Failures       document.Digest          // identifies what fails in it: see failuresOf
	Summary        Summary                  // what the change does, or would do
	Weakened       []string                 // how it weakens the policies in force, as validations.Weakened returns it
	Preview        *Preview                 // of a dry run, which makes no revision
}

// source is the origin of a change: a payload, or the target of a rollback. It is immutable.
type source interface {
	// need returns the parts of the site needed to plan the change.
	need() revisions.Need
	// decoded returns the source with every document decoded that is not in a snapshot.
	decoded(ctx context.Context, snapshot revisions.Snapshot) (source, error)
	// plan returns the diff that the change makes to a snapshot.
	plan(ctx context.Context, snapshot revisions.Snapshot) (revisions.Diff, error)
}

// Limits on retrying a change after other changes were appended first.
const (
	maxAttempts   = 60
	maxAtOnce     = 3 // attempts without a pause between them
	firstWait     = 5 * time.Millisecond
	maxWait       = 80 * time.Millisecond // longer waits would lose every race
	maxSnapshots  = 8                     // for one plan
	retryAfterAll = time.Second
)

// change appends a revision if the source changes anything. Faults: those of planning; Stale if the options do not
// expect the newest revision; Conflict if other changes keep being appended first. With a fault nothing was stored.
func (s *Service) change(ctx context.Context, from source, kind revisions.Kind, options revisions.Options) (
	Written, error,
) {
	if !options.DryRun {
		ctx = budget.First(ctx)
	}
	p, wait := proposal{from: from, kind: kind, options: options}, firstWait
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		var err error
		p, err = s.attempt(ctx, p, attempt > 1)
		if !errors.Is(err, revisions.ErrStaleSnapshot) {
			return p.written, unstored(err)
		}
		// The stale snapshot may be large, and is of no use any more.
		p = proposal{from: p.from, kind: kind, options: options}
		if attempt < maxAtOnce { // waiting for the lock is a pause
			continue
		}
		select {
		case <-time.After(wait + rand.N(wait)): //nolint:gosec // jitter needs no secrecy
			wait = min(2*wait, maxWait)
		case <-ctx.Done():
			return Written{}, fmt.Errorf("wait to plan again: %w", context.Cause(ctx))
		}
	}
	overtaken := fault.New(fault.Conflict, "HTTPConflict",
		"Other changes came first %d times in a row; nothing was stored, send the request again", maxAttempts)
	overtaken.RetryAfter = retryAfterAll
	return Written{}, overtaken
}

// unstored adds to the fault of a secret whose key is missing that nothing was stored, so that clients repeat the
// request.
func unstored(err error) error {
	unopened, ok := errors.AsType[*secrets.Unopened](err)
	missing, isFault := errors.AsType[*fault.Fault](err)
	if !ok || !isFault || unopened.Cause == secrets.Damaged {
		return err
	}
	said := *missing
	said.Message += "; nothing was stored"
	return said.Unstored().Because(err)
}

// proposal is a change with the results of the steps that it has passed: snapshot, diff, judgement.
type proposal struct {
	from    source // with the documents decoded that are not in the snapshot
	kind    revisions.Kind
	options revisions.Options

	promotion *revisions.Promotion // nil if none is asked for
	snapshot  revisions.Snapshot
	diff      revisions.Diff
	judgement Judgement              // empty for a diff that changes nothing
	held      []revisions.HeldResult // that the revision takes over
	charged   int                    // bytes of memory charged for the commit
	written   Written                // the summary; the whole answer of a change that was made, or that makes no revision
}

// attempt plans a change on the newest state and appends it. The first attempt holds the write lock only while
// appending. A further one, if locked, also holds it while planning, which takes little time by then: documents are
// decoded, and outcomes of checks and rendered documents are remembered.
func (s *Service) attempt(ctx context.Context, p proposal, locked bool) (_ proposal, err error) {
	if locked {
		var unlock func()
		if ctx, unlock, err = s.lockWrites(ctx); err != nil {
			return p, err
		}
		defer unlock()
	}
	if p.options.Promotion != nil {
		promotion, err := p.options.Promotion(ctx)
		if err != nil {
			return p, err
		}
		p.promotion = &promotion
	}
	if p, err = s.propose(ctx, p); err != nil || p.options.DryRun {
		return p, err
	}
	texts, held, err := s.packedTexts(ctx, p.diff.Texts)
	if p.charged = held; err != nil {
		return p, err
	}
	if p.diff.Changes {
		p, err = s.commit(ctx, p, texts, locked)
	} else {
		p.written.Rewritten, p.written.Refollows = len(p.diff.Reread), p.diff.Refollows
		err = s.reread(ctx, p, texts)
	}
	if errors.Is(err, revisions.ErrStaleSnapshot) {
		p.snapshot.Release(ctx)
		budget.NewMeter(ctx).Release(p.charged)
	}
	return p, err
}

// commit appends a proposal. It holds the write lock while appending, unless it is locked already.
func (s *Service) commit(ctx context.Context, p proposal, texts []revisions.TextBlock, locked bool) (proposal, error) {
	commit := newCommit(p)
	commit.Texts, commit.Promotion = texts, p.promotion
	packed, held, err := s.packed(ctx, commit)
	if p.charged += held; err != nil {
		return p, err
	}
	if commit.Packed = packed; locked {
		p.written, err = s.append(ctx, p, commit)
	} else {
		p.written, err = s.appendNext(ctx, p, commit)
	}
	return p, err
}

// propose plans and judges a change on the newest state.
func (s *Service) propose(ctx context.Context, p proposal) (_ proposal, err error) {
	if p, err = s.prepare(ctx, p); err != nil {
		if errors.Is(err, revisions.ErrStaleSnapshot) {
			p.snapshot.Release(ctx)
		}
		return p, err
	}
	began := s.Now()
	if p.diff.Changes {
		if p.judgement, err = s.newValidator(p.options).Validate(ctx, p.snapshot, p.diff); err != nil {
			return p, err
		}
	}
	s.observe("check", began)
	if len(p.judgement.Holds) > 0 {
		if p.held, err = s.Store.Held(ctx, p.judgement.Holds, p.options.Caller.ID); err != nil {
			return p, fmt.Errorf("find results that hold: %w", err)
		}
	}
	summary := summarize(p)
	var weakened []string
	if p.diff.Changes {
		before := revisions.InForce(p.snapshot.Policies, p.snapshot.Revision)
		weakened = validations.Weakened(before, p.judgement.Policies)
	}
	switch {
	case p.options.DryRun:
		p.written, err = s.preview(ctx, p)
	case !p.diff.Changes:
		p.written = Written{Revision: p.snapshot.Revision, Stamp: p.snapshot.Stamp, Documents: p.diff.Result}
	}
	p.written.Summary, p.written.Weakened = summary, weakened
	return p, err
}

// prepare reads the parts of the site that a change needs and plans the change. It reads again if the snapshot or the
// decoded documents show that more is needed.
func (s *Service) prepare(ctx context.Context, p proposal) (_ proposal, err error) {
	dryRun := p.options.DryRun
	preview := revisions.Need{Preview: dryRun, Evidence: dryRun, Documents: dryRun && (!s.Compat || p.options.Rendered)}
	need, _ := s.needOf(p.from).With(preview)
	if p.options.Expected.Check(*s.seen.Load()) != nil {
		need.Documents, need.Preview = false, false // the change is probably refused
	}
	var known revisions.Need
	for range maxSnapshots {
		// Only read still holds the former snapshot then, so memory never has two of a large site if it reads another.
		before := p.snapshot
		p.snapshot, p.diff = revisions.Snapshot{}, revisions.Diff{}
		if p.snapshot, err = s.read(ctx, before, known, need); err != nil {
			return p, err
		}
		known = need
		if p.from, err = p.from.decoded(ctx, p.snapshot); err != nil {
			return p, err
		}
		if err := p.options.Expected.Check(p.snapshot.Head); err != nil {
			return p, err
		}
		all, _ := s.needOf(p.from).With(preview)
		var more revisions.Need
		var grown bool
		if need, grown = need.With(all); grown {
			continue
		}
		began := s.Now()
		if p.diff, more, err = s.planned(ctx, p); err != nil {
			return p, err
		}
		s.observe("plan", began)
		if need, grown = need.With(more); !grown || p.snapshot.Revision == 0 {
			return p, nil
		}
	}
	return p, revisions.ErrStaleSnapshot // the needs change with every snapshot
}

// needOf returns what a source needs, with all documents if the last change needed them to be judged.
func (s *Service) needOf(from source) revisions.Need {
	need := from.need()
	need.Documents = need.Documents || need.Evidence && s.whole.Load()
	return need
}

// read returns a snapshot of everything in need. It extends a known snapshot unless the site has changed since. A site
// without revisions, also one that was purged, has only empty buckets.
func (s *Service) read(ctx context.Context, snapshot revisions.Snapshot, known, need revisions.Need) (
	revisions.Snapshot, error,
) {
	more := need.Beyond(known)
	if snapshot.WasRead() && snapshot.Revision == 0 && more.Target == nil {
		part := revisions.Snapshot{Buckets: make([]revisions.Bucket, len(more.Buckets))}
		for i, name := range more.Buckets {
			part.Buckets[i].Name = name
		}
		return snapshot.With(part, more), nil
	}
	part, err := s.Store.Snapshot(ctx, more)
	if err == nil && snapshot.WasRead() && part.Head == snapshot.Head {
		return snapshot.With(part, more), nil
	}
	if snapshot.Release(ctx); err == nil && !reflect.DeepEqual(more, need) {
		part.Release(ctx)
		part, err = s.Store.Snapshot(ctx, need)
	}
	if err != nil {
		return revisions.Snapshot{}, fmt.Errorf("read the site: %w", budget.About(err, "read the site"))
	}
	s.seen.Store(new(part.Head)) // a copy: a pointer into the snapshot would keep its documents in memory
	return part, nil
}

// planned plans a change and returns the further parts of the site needed to judge the diff.
func (s *Service) planned(ctx context.Context, p proposal) (diff revisions.Diff, more revisions.Need, err error) {
	snapshot, options := p.snapshot, p.options
	if diff, err = p.from.plan(ctx, snapshot); err != nil {
		return diff, more, err
	}
	if s.deleting(options).CleartextOnly {
		if err := mayDelete(diff.Removed); err != nil {
			return diff, more, err
		}
	}
	if err := checkDeleted(diff, options); err != nil {
		return diff, more, err
	}
	if err := s.checkSize(snapshot.Live, diff, options); err != nil {
		return diff, more, err
	}
	if more, err = s.newValidator(options).Need(ctx, snapshot, diff); err != nil {
		return diff, more, err
	}
	if options.WithoutUse && diff.Changes && mayAddUses(diff) {
		if more.Documents = true; snapshot.Documents != nil || snapshot.Live == 0 {
			if err := s.checkUses(ctx, p.from, snapshot, diff, options); err != nil {
				return diff, more, err
			}
		}
	}
	if diff.Changes {
		s.whole.Store(more.Documents)
	}
	if diff.Changes && diff.Result == nil && !options.Viewer.Encrypted { // for the summary
		more.Documents = true
	}
	if options.DryRun {
		more, _ = more.With(previewNeed(snapshot))
	}
	return diff, more, nil
}

// appendNext takes the write lock and appends a commit unless this process has appended another one meanwhile.
func (s *Service) appendNext(ctx context.Context, p proposal, commit revisions.Commit) (Written, error) {
	ctx, unlock, err := s.lockWrites(ctx)
	if err != nil {
		return Written{}, err
	}
	defer unlock()
	if s.seen.Load().Stamp != commit.Base.Stamp {
		return Written{}, revisions.ErrStaleSnapshot
	}
	return s.append(ctx, p, commit)
}

// reread stores the texts and upstreams of a change that makes no revision.
func (s *Service) reread(ctx context.Context, p proposal, texts []revisions.TextBlock) error {
	if len(p.diff.Reread) > 0 || p.diff.Refollows {
		if err := s.Store.Reread(ctx, p.snapshot.Head, p.diff, texts); err != nil {
			return fmt.Errorf("store the texts and sources of documents: %w", err)
		}
	}
	return nil
}

// lockWrites waits until this process is appending no other change; unlock lets the next one begin. A large request
// gives up its permit while it waits for the lock. With the returned context it needs none while it holds the lock, or
// requests for the lock and for a permit could deadlock, and it counts as the site's own, or others would wait for
// the share of its user.
func (s *Service) lockWrites(ctx context.Context) (locked context.Context, unlock func(), err error) {
	select {
	case <-s.writes:
	default:
		budget.Yield(ctx)
		select {
		case <-s.writes:
		case <-ctx.Done():
			return ctx, nil, fmt.Errorf("wait to write: %w", context.Cause(ctx))
		}
	}
	began := s.Now()
	return budget.WithoutUser(budget.Exempt(ctx)), func() {
		s.observe("turn", began)
		s.writes <- struct{}{}
	}, nil
}

// packed returns the contents of a commit in their stored form, and the number of bytes charged for them. It skips
// rollbacks, because nearly all of their contents are already stored.
func (s *Service) packed(ctx context.Context, commit revisions.Commit) (
	packed map[document.Digest][]byte, held int, err error,
) {
	if commit.Revision.Kind == revisions.Rollback {
		return nil, 0, nil
	}
	began := s.Now()
	added := commit.Diff.Added
	bodies := make([][]byte, len(added))
	err = budget.ForEach(ctx, len(added), func(meter *budget.Meter, i int) error {
		bodies[i] = s.Store.Pack(added[i].Data)
		return meter.Hold(len(bodies[i]))
	})
	packed = make(map[document.Digest][]byte, len(added))
	for i, doc := range added {
		packed[doc.Digest] = bodies[i]
		held += len(bodies[i])
	}
	s.observe("pack", began)
	return packed, held, err
}

// packedTexts returns texts in their stored form, those with secrets sealed, and the number of bytes charged for them.
func (s *Service) packedTexts(ctx context.Context, texts []revisions.Text) (
	blocks []revisions.TextBlock, held int, err error,
) {
	if len(texts) == 0 {
		return nil, 0, nil
	}
	began := s.Now()
	together := revisions.Blocks(texts)
	blocks = make([]revisions.TextBlock, len(together))
	err = budget.ForEach(ctx, len(together), func(meter *budget.Meter, i int) (err error) {
		for _, text := range together[i] {
			blocks[i].Of = append(blocks[i].Of, text.Of)
		}
		blocks[i].Body = s.Store.Pack(revisions.AppendBlock(nil, together[i]))
		if secret := together[i][0].Secret; secret != nil {
			place := s.place(*secret)
			blocks[i].Reference = secrets.Reference(place, document.Digest{})
			if blocks[i].Body, err = s.Vault.Seal(ctx, place, blocks[i].Body); err != nil {
				return fmt.Errorf("seal a text: %w", err)
			}
		}
		return meter.Hold(len(blocks[i].Body))
	})
	for _, block := range blocks {
		held += len(block.Body)
	}
	s.observe("pack", began)
	return blocks, held, err
}

// append stores a commit and caches its rendered documents for later requests.
func (s *Service) append(ctx context.Context, p proposal, commit revisions.Commit) (Written, error) {
	status := s.verdict(p, commit.Revision)
	commit.Status = status.Verdict.Status
	if p.options.OnPlanned != nil {
		wait := async(func() { p.options.OnPlanned(commit.Diff.Added) })
		defer wait()
	}
	began := s.Now()
	stored, err := s.Store.Append(ctx, commit)
	if err != nil {
		return Written{}, fmt.Errorf("append revision: %w", err)
	}
	s.observe("store", began)
	made, diff := stored.Revision, stored.Diff
	s.seen.Store(&revisions.Head{Revision: made.ID, Stamp: made.Stamp})
	s.Store.Remember(p.snapshot.Buckets, made, diff.Result)
	if rendered := p.judgement.Rendered; rendered != nil {
		s.Rendered.Add(RenderKey{Site: s.Site, Revision: made.ID, Stamp: made.Stamp}, *rendered, rendered.Size)
	}
	status.Revision = made
	written := p.written
	written.Revision, written.Stamp, written.Documents, written.Buckets = made.ID, made.Stamp, diff.Result, made.Buckets
	written.Changed, written.Audited, written.RevisionStatus = true, stored.Audit != nil, status
	written.Failures = s.failuresOf(stored, p.judgement.Results)
	return written, nil
}

// votesOf adds those of results that hold to votes.
func votesOf(votes map[string][]validations.Vote, holds []revisions.Hold, held []revisions.HeldResult,
) map[string][]validations.Vote {
	all, each := map[string][]validations.Vote{}, map[string]bool{}
	maps.Copy(all, votes)
	for _, hold := range holds {
		each[hold.Name] = hold.Each
	}
	for _, result := range slices.Backward(held) { // the newest first
		if each[result.Name] {
			all[result.Name] = append(all[result.Name], validations.Vote{User: result.User, At: result.At})
		}
	}
	return all
}

// verdict returns the verdict on the revision of a change. Its only reported results are those that it takes over from
// others.
func (s *Service) verdict(p proposal, revision revisions.Revision) revisions.RevisionStatus {
	known := p.diff.Carried
	known.Outcomes = slices.Clone(known.Outcomes)
	for _, held := range p.held {
		known.Outcomes = append(known.Outcomes, held.Outcome)
	}
	known.Votes = votesOf(known.Votes, p.judgement.Holds, p.held)
	var warnings []fault.Message
	for _, result := range p.judgement.Results {
		outcome := result.Outcome(p.options.Viewer)
		outcome.At = revision.CreatedAt
		known.Outcomes = append(known.Outcomes, outcome)
		warnings = append(warnings, p.options.Viewer.Warnings(result.Warnings)...)
	}
	policies := validations.Applied(p.judgement.Policies, revision.Inapplicable)
	verdict := s.DefaultValidations.Verdict(policies, revision, known, revision.CreatedAt)
	verdict.Warnings = WarningsUnder(verdict, warnings)
	return revisions.RevisionStatus{Revision: revision, Verdict: verdict.WithAdvice()}
}
