package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

const (
	headColumns = `s.epoch, s.prunes, s.head, s.documents, s.live, s.settled`

	headState = `SELECT ` + headColumns + ` FROM sites s WHERE s.site = $1`

	bucketStates = `SELECT k.bucket, coalesce(b.changed, 0)
		FROM unnest($2::text[]) WITH ORDINALITY AS k (bucket, n)
		LEFT JOIN buckets b ON b.site = $1 AND b.bucket = k.bucket ORDER BY k.n`

	// changedBuckets reads the documents of those buckets that are not as they are known: at the revision that changed
	// them last, in an epoch. For OFFSET 0 see ofRevision.
	changedBuckets = `SELECT ` + documentColumns + `, c.body, c.sealed FROM (
			SELECT k.bucket FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS k (bucket, epoch, changed)
			JOIN sites s ON s.site = $1
			JOIN buckets b ON b.site = $1 AND b.bucket = k.bucket AND (b.changed <> k.changed OR s.epoch <> k.epoch)
			OFFSET 0) k
		CROSS JOIN LATERAL (` + selectVersion + ` FROM documents d
			WHERE d.site = $1 AND d.bucket = k.bucket AND d.until IS NULL OFFSET 0) d
		CROSS JOIN LATERAL (SELECT body, sealed FROM contents WHERE site = $1 AND digest = d.content OFFSET 0) c
		ORDER BY d.place`

	knownContents = `SELECT digest, sealed FROM contents WHERE site = $1 AND digest = ANY($2)`

	allLive = withContent + `WHERE d.site = $1 AND d.until IS NULL ORDER BY d.place`

	liveOfKinds = `SELECT ` + documentColumns + `, c.body, c.sealed FROM unnest($2::text[]) k
		CROSS JOIN LATERAL (` + selectVersion + ` FROM documents d
			WHERE d.site = $1 AND d.schema = k AND d.until IS NULL OFFSET 0) d
		CROSS JOIN LATERAL (SELECT body, sealed FROM contents WHERE site = $1 AND digest = d.content OFFSET 0) c
		ORDER BY d.place`

	liveRegistered = `SELECT ` + documentColumns + `, c.body, c.sealed FROM unnest($2::text[]) k
		CROSS JOIN LATERAL (` + selectVersion + ` FROM documents d
			WHERE d.site = $1 AND d.name = k AND d.fork IS NULL AND d.schema = 'deckhand/DataSchema/v1' OFFSET 0) d
		CROSS JOIN LATERAL (SELECT body, sealed FROM contents WHERE site = $1 AND digest = d.content OFFSET 0) c
		ORDER BY d.place`

	liveClaims = `SELECT ` + documentColumns + `, NULL::bytea, NULL::bytea
		FROM unnest($2::text[], $3::text[], $4::text[]) AS k (schema, layer, name)
		CROSS JOIN LATERAL (` + selectVersion + ` FROM documents d WHERE d.site = $1 AND d.schema = k.schema
			AND d.layer = k.layer AND d.name = k.name AND d.until IS NULL OFFSET 0) d
		UNION ALL
		SELECT ` + documentColumns + `, NULL::bytea, NULL::bytea FROM documents d
		WHERE d.site = $1 AND d.until IS NULL AND d.schema LIKE 'deckhand/LayeringPolicy/%'`

	liveNoted = `SELECT ` + documentColumns + `, NULL::bytea, NULL::bytea FROM documents d
		WHERE d.site = $1 AND d.until IS NULL AND d.notes IS NOT NULL`

	livePositions = `SELECT d.id, d.place FROM documents d WHERE d.site = $1 AND d.until IS NULL ORDER BY d.place`

	livePolicies = `SELECT d.place, d.since, 0::bigint, d.schema, d.layer, d.name, d.content, c.body
		FROM documents d JOIN contents c ON c.site = d.site AND c.digest = d.content
		WHERE d.site = $1 AND d.schema LIKE 'deckhand/ValidationPolicy/%' AND d.until IS NULL ORDER BY d.place`

	newestRevision = `SELECT ` + revisionColumns + ` FROM revisions r
		WHERE r.site = $1 AND r.revision = (SELECT head FROM sites WHERE site = $1)`

	newestFailures = `SELECT entry, document, rule, client_versions FROM failures
		WHERE site = $1 AND revision = (SELECT head FROM sites WHERE site = $1) ORDER BY entry`

	failingDocuments = withContent + `WHERE d.site = $1 AND d.id IN (SELECT f.document FROM failures f
		WHERE f.site = $1 AND f.rule IS NOT NULL AND f.revision = (SELECT head FROM sites WHERE site = $1))`

	newestOutcomes = latestResults + `n.revision = (SELECT head FROM sites WHERE site = $1)`

	newestOccupied = `SELECT bucket FROM occupancies WHERE site = $1 AND until IS NULL ORDER BY bucket`

	newestFallback = withContent + `WHERE d.site = $1 AND d.schema LIKE 'deckhand/LayeringPolicy/%'
		ORDER BY d.since DESC LIMIT 1`
)

// headFields returns where a row of headColumns goes.
func headFields(head *revisions.Head) []any {
	return []any{&head.Epoch, &head.Prunes, &head.Revision, &head.LastDocument, &head.Live, &head.Settled}
}

// bucketEntry is a bucket as it was after the revision that changed it last. What it holds never changes.
type bucketEntry struct {
	revisions.Bucket

	epoch int64
}

// Snapshot implements revisions.Store. Documents of buckets are read only where they have changed since they were kept.
func (s *Store) Snapshot(ctx context.Context, need revisions.Need) (revisions.Snapshot, error) {
	var r *snapshotReader
	err := s.snapshot(ctx, func(batch *pgx.Batch) { r = s.queueSnapshot(batch, need) })
	if err != nil {
		return revisions.Snapshot{}, err
	}
	return r.finish(), nil
}

// snapshotReader gathers the rows of a snapshot.
type snapshotReader struct {
	*revisions.Snapshot

	store  *Store
	known  map[string]bucketEntry
	loaded map[string][]*revisions.Stored // by bucket, those that have changed
}

func (s *Store) queueSnapshot(batch *pgx.Batch, need revisions.Need) *snapshotReader {
	r := &snapshotReader{
		&revisions.Snapshot{}, s, map[string]bucketEntry{}, map[string][]*revisions.Stored{},
	}
	batch.Queue(headState, s.site).QueryRow(func(row pgx.Row) error { return row.Scan(headFields(&r.Head)...) })
	r.queueBuckets(batch, need.Buckets)
	r.queueDocuments(batch, need)
	if need.Evidence {
		r.queueEvidence(batch)
	}
	if need.Preview {
		batch.Queue(newestOccupied, s.site).Query(into(&r.Occupied, pgx.RowTo[string]))
		batch.Queue(failingDocuments, s.site).Query(into(&r.Failing, s.scanDocument))
		batch.Queue(newestOutcomes, s.site).Query(func(rows pgx.Rows) error {
			outcomes := map[int64][]validations.Outcome{}
			err := scanOutcomes(rows, outcomes)
			for _, posted := range outcomes {
				r.Outcomes = posted
			}
			return err
		})
	}
	if need.Positions {
		batch.Queue(livePositions, s.site).Query(into(&r.Positions, pgx.RowToStructByPos[revisions.Position]))
	}
	if need.Target != nil {
		r.Comparison = &revisions.Comparison{}
		batch.Queue(liveNoted, s.site).Query(into(&r.Noted, s.scanDocument))
		s.queueRollback(batch, r.Comparison, *need.Target)
	}
	return r
}

func (r *snapshotReader) queueBuckets(batch *pgx.Batch, names []string) {
	if len(names) == 0 {
		return
	}
	epochs, changed := make([]int64, len(names)), make([]int64, len(names))
	for i, name := range names {
		if entry, ok := r.store.buckets.Get(name); ok {
			r.known[name], epochs[i], changed[i] = entry, entry.epoch, entry.Changed
		}
	}
	batch.Queue(bucketStates, r.store.site, names).Query(func(rows pgx.Rows) error {
		var bucket revisions.Bucket
		_, err := pgx.ForEachRow(rows, []any{&bucket.Name, &bucket.Changed}, func() error {
			r.Buckets = append(r.Buckets, bucket)
			return nil
		})
		return err //nolint:wrapcheck // explained by snapshot
	})
	batch.Queue(changedBuckets, r.store.site, names, epochs, changed).Query(func(rows pgx.Rows) error {
		documents, err := pgx.CollectRows(rows, r.store.scanDocument)
		r.loaded = revisions.GroupByBucket(documents)
		return err //nolint:wrapcheck // explained by snapshot
	})
}

func (r *snapshotReader) queueDocuments(batch *pgx.Batch, need revisions.Need) {
	site := r.store.site
	if len(need.Identities) > 0 {
		schemas, layers, names := make([]string, len(need.Identities)), make([]string, len(need.Identities)),
			make([]string, len(need.Identities))
		for i, id := range need.Identities {
			schemas[i], layers[i], names[i] = id.Schema, id.Layer, id.Name
		}
		batch.Queue(liveClaims, site, schemas, layers, names).Query(into(&r.Claims, r.store.scanDocument))
	}
	if len(need.Contents) > 0 {
		r.Contents = map[document.Digest]revisions.Content{}
		batch.Queue(knownContents, site, byteas(need.Contents)).Query(func(rows pgx.Rows) error {
			return scanContents(rows, r.Contents)
		})
	}
	switch {
	case need.Schemas:
		batch.Queue(liveOfKinds, site, []string{validations.DataSchemaKind}).Query(into(&r.Schemas, r.store.scanDocument))
	case len(need.Kinds) > 0:
		batch.Queue(liveRegistered, site, need.Kinds).Query(into(&r.Schemas, r.store.scanDocument))
	}
	if len(need.Governed) > 0 {
		batch.Queue(liveOfKinds, site, need.Governed).Query(into(&r.Governed, r.store.scanDocument))
	}
	if len(need.Checks) > 0 {
		r.Checks = map[validations.Pair][]validations.Finding{}
		queueChecked(batch, site, need.Checks, r.Checks)
	}
	if need.Documents {
		batch.Queue(allLive, site).Query(into(&r.Documents, r.store.scanDocument))
		batch.Queue(newestFallback, site).Query(func(rows pgx.Rows) error {
			found, err := pgx.CollectRows(rows, r.store.scanDocument)
			if len(found) > 0 {
				r.Fallback = found[0]
			}
			return err //nolint:wrapcheck // explained by snapshot
		})
	}
}

// queueEvidence reads the policies, failures and client versions that a change is judged by.
func (r *snapshotReader) queueEvidence(batch *pgx.Batch) {
	site := r.store.site
	batch.Queue(newestRevision, site).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, scanRevision)
		if len(found) > 0 {
			r.Newest = found[0]
		}
		return err //nolint:wrapcheck // explained by snapshot
	})
	batch.Queue(livePolicies, site).Query(into(&r.Policies, r.store.scanPolicy))
	batch.Queue(newestFailures, site).Query(into(&r.Failures, scanFailure))
	batch.Queue(liveOfKinds, site, []string{validations.ClientVersionsKind}).
		Query(into(&r.ClientVersions, r.store.scanDocument))
}

func scanContents(rows pgx.Rows, contents map[document.Digest]revisions.Content) error {
	var digest document.Digest
	var sealed []byte
	_, err := pgx.ForEachRow(rows, []any{digestField{&digest}, &sealed}, func() error {
		contents[digest] = revisions.Content{Sealed: sealed}
		sealed = nil
		return nil
	})
	return err //nolint:wrapcheck // explained by the callers
}

// finish adds the documents of buckets, and caches the ones that were read.
func (r *snapshotReader) finish() revisions.Snapshot {
	for i := range r.Buckets {
		bucket := &r.Buckets[i]
		entry, known := r.known[bucket.Name]
		switch {
		case bucket.Changed == 0:
		case known && entry.epoch == r.Epoch && entry.Changed == bucket.Changed:
			*bucket = entry.Bucket
		default:
			*bucket = r.store.keep(r.Epoch, bucket.Name, bucket.Changed, r.loaded[bucket.Name])
		}
	}
	if r.Comparison != nil {
		r.Comparison.Head = r.Head
	}
	return *r.Snapshot
}

// keep puts a bucket into the cache, and returns it. The documents must not be known to anybody else yet.
func (s *Store) keep(epoch int64, name string, changed int64, documents []*revisions.Stored) revisions.Bucket {
	size := 0
	for _, doc := range documents {
		size += revisions.Size(doc.Document)
	}
	bucket := revisions.NewBucket(name, changed, documents)
	if changed > 0 {
		s.buckets.Add(name, bucketEntry{bucket, epoch}, size)
	}
	return bucket
}

// Recall implements revisions.Store.
func (s *Store) Recall(names []string) (snapshot revisions.Snapshot, ok bool) {
	for _, name := range names {
		entry, known := s.buckets.Get(name)
		if !known {
			return revisions.Snapshot{}, false
		}
		snapshot.Epoch = entry.epoch
		snapshot.Buckets = append(snapshot.Buckets, entry.Bucket)
	}
	return snapshot, true
}

// Remember implements revisions.Store.
func (s *Store) Remember(snapshot revisions.Snapshot, documents []*revisions.Stored) {
	of := revisions.GroupByBucket(documents)
	for _, bucket := range snapshot.Buckets {
		if !sameValues(bucket.Documents, of[bucket.Name]) {
			s.keep(snapshot.Epoch, bucket.Name, bucket.Changed, of[bucket.Name])
		}
	}
}

// sameValues reports whether two lists hold the very same values.
func sameValues(a, b []*revisions.Stored) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
