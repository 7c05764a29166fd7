package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// maxScanned is the number of live documents in memory up to which looking through them takes less time than queries.
const maxScanned = 10_000

// Snapshot implements revisions.Store. It reads only documents of buckets that have changed since they were cached, and
// no live documents if those of the newest revision are in memory.
func (s *Store) Snapshot(ctx context.Context, need revisions.Need) (revisions.Snapshot, error) {
	var r *snapshotReader
	held, err := s.inSnapshot(ctx, general, func(q *questions) { r = s.queueSnapshot(q, need) })
	if err != nil {
		return revisions.Snapshot{}, err
	}
	r.Held = held
	if r.Policies, err = s.parsePolicies(ctx, r.policies); err != nil {
		return revisions.Snapshot{}, err
	}
	if need.Preview {
		evidence := queries.Evidence{Revisions: []revisions.Revision{r.Newest}, Policies: r.Policies, Known: r.newest}
		if err := s.withVotes(evidence, s.readingAlone(ctx)); err != nil {
			return revisions.Snapshot{}, err
		}
	}
	return r.finish(need), nil
}

// snapshotReader collects the rows of a snapshot.
type snapshotReader struct {
	*revisions.Snapshot

	store  *Store
	known  map[string]revisions.Bucket
	loaded map[string][]*revisions.Stored // by bucket, the changed ones

	policies []policyRow
	newest   map[int64]validations.Known // of the newest revision
	target   map[int64]validations.Known // of the target of a rollback
	live     liveDocuments               // as they were when they were last seen here
}

func (s *Store) queueSnapshot(q *questions, need revisions.Need) *snapshotReader {
	r := &snapshotReader{
		&revisions.Snapshot{}, s,
		map[string]revisions.Bucket{},
		map[string][]*revisions.Stored{},
		nil,
		map[int64]validations.Known{},
		map[int64]validations.Known{},
		liveDocuments{},
	}
	q.askRow(append(headFields(&r.Head), &r.Now, &r.Upstreams), stmt.HeadAndTime, named{"site": s.site})
	if kept, _ := s.live.Get(siteKey{s.site}); need.Documents || len(kept.documents) <= maxScanned {
		r.live = kept
	}
	r.queueBuckets(q, need.Buckets)
	r.queueDocuments(q, need)
	if need.Evidence || need.Preview {
		r.queueEvidence(q)
	}
	if need.Preview {
		q.ask(into(&r.Occupied, pgx.RowTo[string]), stmt.NewestOccupied, named{"site": s.site})
		q.ask(into(&r.Failing, s.scanDocument), stmt.FailingDocuments, named{"site": s.site})
		s.askKnown(q.ask, r.newest, nil, nil, false)
	}
	if need.Positions {
		q.ask(into(&r.Positions, pgx.RowToStructByPos[revisions.Position]), stmt.LivePositions,
			named{"site": s.site})
	}
	if len(need.Inputs) > 0 {
		r.Inputs = map[string]validations.Selection{}
		q.ask(func(rows pgx.Rows) error { return scanInputs(rows, r.Inputs) }, stmt.InputsOf, named{
			"site": s.site, "names": need.Inputs,
		})
	}
	if len(need.Votes) > 0 {
		r.queueVotes(q, need.Votes)
	}
	if need.Target != nil {
		r.Comparison = &revisions.Comparison{}
		q.ask(into(&r.Noted, s.scanDocument), stmt.LiveNoted, named{"site": s.site})
		s.queueRollback(q, r.Comparison, *need.Target)
		q.ask(func(rows pgx.Rows) error { return scanOutcomes(rows, r.target) }, stmt.CarriedOutcomes, named{
			"site": s.site, "from": *need.Target,
		})
		if !s.compat {
			q.ask(func(rows pgx.Rows) error { return scanStanding(rows, r.target) }, stmt.StandingAbout, named{
				"site": s.site, "numbers": []int64{*need.Target}, "tag": (*string)(nil),
			})
		}
	}
	return r
}

func (r *snapshotReader) queueBuckets(q *questions, names []string) {
	if len(names) == 0 {
		return
	}
	stamps, rereads := make([]revisions.Stamp, len(names)), make([]revisions.Stamp, len(names))
	for i, name := range names {
		if entry, ok := r.store.buckets.Get(bucketKey{r.store.site, name}); ok {
			r.known[name], stamps[i], rereads[i] = entry, entry.Stamp, entry.Reread
		}
	}
	q.ask(into(&r.Buckets, func(row pgx.CollectableRow) (b revisions.Bucket, err error) {
		err = row.Scan(&b.Name, &b.Changed, &b.Stamp, &b.Reread)
		return b, err
	}), stmt.BucketStates, named{"site": r.store.site, "buckets": names})
	q.ask(func(rows pgx.Rows) error {
		documents, err := pgx.CollectRows(rows, r.store.scanDocument)
		r.loaded = revisions.GroupByBucket(documents)
		return err
	}, stmt.ChangedBuckets, named{
		"site": r.store.site, "buckets": names, "stamps": stamps, "rereads": rereads,
	})
}

func (r *snapshotReader) queueDocuments(q *questions, need revisions.Need) {
	site, scan := r.store.site, r.store.scanDocument
	if len(need.Identities) > 0 {
		q.ask(into(&r.Claims, scan), stmt.LiveClaims, named{
			"site": site, "known": r.live.stamp,
			"schemas": column(need.Identities, func(id document.Identity) string { return id.Schema }),
			"layers":  column(need.Identities, func(id document.Identity) string { return id.Layer }),
			"names":   column(need.Identities, func(id document.Identity) string { return id.Name }),
		})
	}
	if len(need.Contents) > 0 {
		r.Contents = map[document.Digest]revisions.Content{}
		q.ask(func(rows pgx.Rows) error { return scanContents(rows, r.Contents) },
			stmt.KnownContents, named{"site": site, "digests": digestArray(need.Contents)})
	}
	switch {
	case need.Schemas:
		q.ask(into(&r.Schemas, scan), stmt.LiveSchemas, named{"site": site, "known": r.live.stamp})
	case len(need.Kinds) > 0:
		q.ask(into(&r.Schemas, scan), stmt.LiveRegistered, named{
			"site": site, "known": r.live.stamp, "names": need.Kinds,
		})
	}
	if len(need.Governed) > 0 {
		q.ask(into(&r.Governed, scan), stmt.LiveOfKinds, named{
			"site": site, "known": r.live.stamp, "kinds": need.Governed,
		})
	}
	if len(need.Checks) > 0 {
		r.Checks = map[validations.Pair][]validations.Finding{}
		queueChecked(q, site, need.Checks, r.Checks)
	}
	if need.Documents {
		q.ask(into(&r.Documents, scan), stmt.AllLive, named{"site": site, "known": r.live.stamp})
		q.ask(first(&r.Fallback, scan), stmt.NewestFallback, named{"site": site})
	}
}

// queueEvidence reads the policies, violations and client versions that a change is judged by.
func (r *snapshotReader) queueEvidence(q *questions) {
	site := r.store.site
	q.ask(first(&r.Newest, scanRevision), stmt.NewestRevision, named{"site": site}) // stays zero if there is none
	q.ask(into(&r.policies, scanPolicy), stmt.LivePolicies, named{"site": site})
	q.ask(into(&r.Violations, func(row pgx.CollectableRow) (v revisions.Violation, err error) {
		err = row.Scan(&v.Document, &v.Since, (*nullDigest)(&v.Rule.Schema), (*nullDigest)(&v.Rule.Context), &v.Secret)
		return v, err
	}), stmt.LiveViolations, named{"site": site})
	q.ask(into(&r.ClientVersions, r.store.scanDocument), stmt.LiveVersions, named{
		"site": site, "known": r.live.stamp,
	})
}

// queueVotes reads the votes of ballots, which are all of one revision. Those without votes are there, too.
func (r *snapshotReader) queueVotes(q *questions, ballots []revisions.Ballot) {
	r.Votes = map[revisions.Ballot][]validations.Vote{}
	q.ask(func(rows pgx.Rows) error {
		found := map[int64]validations.Known{}
		err := scanVotes(rows, found)
		for _, ballot := range ballots {
			r.Votes[ballot] = found[ballot.Revision].Votes[ballot.Validation]
		}
		return err
	}, stmt.VotesAbout, named{
		"site": r.store.site, "numbers": []int64{ballots[0].Revision},
		"names": column(ballots, func(b revisions.Ballot) string { return b.Validation }),
	})
}

func scanContents(rows pgx.Rows, contents map[document.Digest]revisions.Content) error {
	var digest document.Digest
	var sealed []byte
	var archived bool
	_, err := pgx.ForEachRow(rows, []any{(*nullDigest)(&digest), &sealed, &archived}, func() error {
		contents[digest] = revisions.Content{Sealed: sealed, Archived: archived}
		sealed = nil
		return nil
	})
	return err
}

// finish adds the documents of buckets, and caches the ones that were read.
func (r *snapshotReader) finish(need revisions.Need) revisions.Snapshot {
	for i := range r.Buckets {
		bucket := &r.Buckets[i]
		entry, known := r.known[bucket.Name]
		switch {
		case bucket.Changed == 0:
		case known && entry.Stamp == bucket.Stamp && entry.Reread == bucket.Reread:
			*bucket = entry
		default:
			bucket.Documents = r.loaded[bucket.Name]
			share(bucket.Documents, r.store.buckets.Fits(sizeOf(bucket.Documents)))
			*bucket = r.store.keep(*bucket)
		}
	}
	r.Known = r.newest[r.Newest.ID]
	if r.Comparison != nil {
		r.Carried = r.target[r.Comparison.Target]
		r.Carried.Claims = nil
		r.Comparison.Head = r.Head
		decodeTraits(r.Comparison.Added) // live documents from now on
	}
	switch {
	case r.live.stamp == r.Head.Stamp:
		known := need.Of(r.live.documents)
		r.Claims, r.Schemas, r.Governed, r.ClientVersions = known.Claims, known.Schemas, known.Governed, known.ClientVersions
		r.Documents = known.Documents
	case need.Documents:
		r.store.keepRead(liveDocuments{r.Head.Stamp, r.Head.Revision, r.Documents})
	}
	return *r.Snapshot
}

// liveDocuments are all documents of a revision that was the newest when they were cached.
type liveDocuments struct {
	stamp     revisions.Stamp // of that revision; 0 if they are not known
	revision  int64
	documents []*revisions.Stored // in order of place
}

// decodeTraits decodes properties of live documents that are needed often. The documents must not be shared yet.
func decodeTraits(documents []*revisions.Stored) {
	for _, doc := range documents {
		doc.DecodeTraits()
	}
}

// share marks documents as shared if they will be cached. They must not be shared yet.
func share(documents []*revisions.Stored, cached bool) {
	for _, doc := range documents {
		doc.Shared = cached
	}
}

// keepRead caches live documents that were just read and are not shared yet.
func (s *Store) keepRead(live liveDocuments) {
	decodeTraits(live.documents)
	size := sizeOf(live.documents)
	share(live.documents, s.live.Fits(size))
	s.live.Add(siteKey{s.site}, live, size)
}

// advance updates the cached live documents after a commit, if those before it are cached or there were none.
func (s *Store) advance(commit revisions.Commit) {
	live, ok := s.live.Get(siteKey{s.site})
	if commit.Base.Live == 0 {
		live, ok = liveDocuments{stamp: commit.Base.Stamp}, true
	}
	if ok && live.stamp == commit.Base.Stamp {
		documents := commit.Diff.After(live.documents)
		s.live.Add(siteKey{s.site}, liveDocuments{commit.Revision.Stamp, commit.Revision.ID, documents}, sizeOf(documents))
	}
}

func sizeOf(documents []*revisions.Stored) (size int) {
	for _, doc := range documents {
		size += revisions.Size(doc.Document)
	}
	return size
}

// keep caches a bucket and returns it. The caller must not have shared its documents yet.
func (s *Store) keep(bucket revisions.Bucket) revisions.Bucket {
	reread := bucket.Reread
	bucket = revisions.NewBucket(bucket.Name, bucket.Changed, bucket.Stamp, bucket.Documents)
	bucket.Reread = reread
	if bucket.Changed > 0 {
		s.buckets.Add(bucketKey{s.site, bucket.Name}, bucket, sizeOf(bucket.Documents))
	}
	return bucket
}

// Recall implements revisions.Store.
func (s *Store) Recall(names []string) (snapshot revisions.Snapshot, ok bool) {
	for _, name := range names {
		bucket, known := s.buckets.Get(bucketKey{s.site, name})
		if !known {
			return revisions.Snapshot{}, false
		}
		snapshot.Buckets = append(snapshot.Buckets, bucket)
	}
	return snapshot, true
}

// Remember implements revisions.Store.
func (s *Store) Remember(buckets []revisions.Bucket, written revisions.Revision, documents []*revisions.Stored) {
	of := revisions.GroupByBucket(documents)
	for _, bucket := range buckets {
		if _, changed := slices.BinarySearch(written.Buckets, bucket.Name); changed {
			bucket.Changed, bucket.Stamp, bucket.Documents = written.ID, written.Stamp, of[bucket.Name]
			s.keep(bucket)
		}
	}
}
