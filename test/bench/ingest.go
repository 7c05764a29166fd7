package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"purser/internal/document"
	"purser/internal/validations"
)

// ingestTurn is one turn of rows 1 to 3.
type ingestTurn struct {
	cold         time.Duration // PUT into an empty site
	phases       map[string]time.Duration
	alone        time.Duration // decoding and checking the same bytes in process, on one goroutine
	together     time.Duration // the same on all cores
	copied       time.Duration // raw COPY of the stored bytes
	one, none    time.Duration // PUT with one document changed, with none changed
	bare         time.Duration // the latter to a bare server
	transactions int64         // writing transactions during a PUT that changes nothing
}

// ingester uploads a site again and again.
type ingester struct {
	*server

	site    *site
	checker validations.Checker
	version int // of the last changed document
	repeats int // repetitions of quick work within a turn
}

// ingests measures rows 1 to 3 for a kind of documents.
func (b *bench) ingests(ctx context.Context, k kind) (err error) {
	b.sayf("rows 1-3: %d documents of %s", b.docs, k.label)
	s, err := b.start(ctx, "ingest_"+databaseName(k))
	if err != nil {
		return err
	}
	defer func() { err = s.stop(err) }()
	in := &ingester{server: s, site: newSite(k, b.docs), repeats: 5}
	if in.checker, err = compile(ctx, k); err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, createCopyTable); err != nil {
		return fmt.Errorf("create the table to copy into: %w", err)
	}
	var answer bytes.Buffer
	if err := s.send(ctx, http.MethodPut, api+"/buckets/site/documents", in.site.body(), &answer); err != nil {
		return err
	}
	bare, err := b.startBare(ctx, answer.Bytes())
	if err != nil {
		return err
	}
	defer func() { err = bare.stop(err) }()
	turns := make([]ingestTurn, b.rounds+1)
	for i := range turns {
		if turns[i], err = in.turn(ctx); err != nil {
			return err
		}
		same := in.site.body()
		turns[i].bare, err = medianTime(in.repeats, func(int) error { return bare.put(ctx, "site", same) })
		if err != nil {
			return err
		}
	}
	b.reportIngests(k, len(in.site.body()), turns[1:]) // the first turn was a warm-up
	return nil
}

func databaseName(k kind) string {
	return strings.ToLower(strings.NewReplacer("/", "_").Replace(k.name))
}

func (in *ingester) turn(ctx context.Context) (turn ingestTurn, err error) {
	if err := in.empty(ctx); err != nil {
		return turn, err
	}
	body := in.site.body()
	if err := in.cold(ctx, body, &turn); err != nil {
		return turn, err
	}
	docs, err := in.inProcess(ctx, body, &turn)
	if err != nil {
		return turn, err
	}
	if turn.copied, err = rawCopy(ctx, in.db, docs); err != nil {
		return turn, err
	}
	return turn, in.again(ctx, &turn)
}

// empty purges the site except for the DataSchema, and shrinks the tables to the size of new ones.
func (in *ingester) empty(ctx context.Context) error {
	if err := in.send(ctx, http.MethodDelete, api+"/revisions", nil, io.Discard); err != nil {
		return err
	}
	if err := in.put(ctx, "schemas", []byte(in.site.schema)); err != nil {
		return err
	}
	return vacuum(ctx, in.db)
}

func vacuum(ctx context.Context, db *pgxpool.Pool) error {
	if _, err := db.Exec(ctx, "VACUUM ANALYZE"); err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	return nil
}

func (in *ingester) cold(ctx context.Context, body []byte, turn *ingestTurn) error {
	before, err := in.phases(ctx)
	if err != nil {
		return err
	}
	if turn.cold, err = timed(func() error { return in.put(ctx, "site", body) }); err != nil {
		return err
	}
	if turn.phases, err = in.phases(ctx); err != nil {
		return err
	}
	for phase, spent := range before {
		turn.phases[phase] -= spent
	}
	return in.succeeded(ctx)
}

// succeeded checks that the measured site passed its checks, rather than failing early.
func (in *ingester) succeeded(ctx context.Context) error {
	return in.get(ctx, api+"/revisions/latest/status?expect=success")
}

func (in *ingester) inProcess(ctx context.Context, body []byte, turn *ingestTurn) (
	docs []*document.Document, err error,
) {
	runtime.GC() // do not count earlier garbage
	turn.alone, err = timed(func() error {
		docs, err = decodeAndCheck(ctx, body, in.checker, 1)
		return err
	})
	if err != nil {
		return nil, err
	}
	runtime.GC()
	turn.together, err = timed(func() error {
		_, err := decodeAndCheck(ctx, body, in.checker, cores())
		return err
	})
	return docs, err
}

const createCopyTable = `CREATE TABLE bench_copy (digest bytea PRIMARY KEY, data text NOT NULL, metadata text NOT NULL)`

// rawCopy copies the same bytes to the same cluster, durably, in the quickest way.
func rawCopy(ctx context.Context, db *pgxpool.Pool, docs []*document.Document) (time.Duration, error) {
	if _, err := db.Exec(ctx, "TRUNCATE bench_copy"); err != nil {
		return 0, fmt.Errorf("empty the table to copy into: %w", err)
	}
	rows := make([][]any, len(docs))
	for i, doc := range docs {
		rows[i] = []any{doc.Digest[:], string(doc.Data), string(doc.Metadata)}
	}
	took, err := timed(func() error {
		return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"bench_copy"}, []string{"digest", "data", "metadata"},
				pgx.CopyFromRows(rows))
			return err //nolint:wrapcheck // wrapped below
		})
	})
	if err != nil {
		return 0, fmt.Errorf("copy: %w", err)
	}
	return took, nil
}

// again puts the site with one document changed, and then with none changed.
func (in *ingester) again(ctx context.Context, turn *ingestTurn) (err error) {
	bodies := make([][]byte, in.repeats)
	for i := range bodies {
		in.version++
		in.site.change(in.version%len(in.site.documents), in.version)
		bodies[i] = in.site.body()
	}
	turn.one, err = medianTime(in.repeats, func(i int) error { return in.put(ctx, "site", bodies[i]) })
	if err != nil {
		return err
	}
	before, err := transactions(ctx, in.db)
	if err != nil {
		return err
	}
	same := bodies[len(bodies)-1]
	turn.none, err = medianTime(in.repeats, func(int) error { return in.put(ctx, "site", same) })
	if err != nil {
		return err
	}
	after, err := transactions(ctx, in.db)
	turn.transactions = after - before
	return err
}

// transactions returns the next transaction id. Only transactions that write a row get one. It is exact immediately,
// while statistics of written rows lag by up to ten seconds. Transactions of autovacuum count too, so the median of all
// turns is used.
func transactions(ctx context.Context, db *pgxpool.Pool) (next int64, err error) {
	err = db.QueryRow(ctx, `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint`).Scan(&next)
	if err != nil {
		return 0, fmt.Errorf("read the next transaction number: %w", err)
	}
	return next, nil
}

func (b *bench) reportIngests(k kind, size int, turns []ingestTurn) {
	site := fmt.Sprintf("%d x %s", b.docs, k.label)
	cold := medianOf(turns, func(t ingestTurn) time.Duration { return t.cold })
	if b.wants(1) {
		alone := medianOf(turns, func(t ingestTurn) time.Duration { return t.alone })
		together := medianOf(turns, func(t ingestTurn) time.Duration { return t.together })
		b.atLeast(1, medianOf(turns, func(t ingestTurn) float64 { return ratio(t.alone, t.cold) }), 0.6,
			site+": speed of a cold ingest to decode and check on one goroutine",
			fmt.Sprintf("%s, %s; %.1f KB", short(cold), short(alone), float64(size)/1000))
		b.infof(1, site+": the same to decode and check on all cores", "%.2fx  (%s)",
			medianOf(turns, func(t ingestTurn) float64 { return ratio(t.together, t.cold) }), short(together))
		b.infof(1, site+": phases of the cold ingest", "%s", phaseText(turns, cold))
	}
	if b.wants(2) {
		b.reportAgain(site, turns)
	}
	if b.wants(3) {
		store := medianOf(turns, func(t ingestTurn) time.Duration { return t.phases["store"] })
		copied := medianOf(turns, func(t ingestTurn) time.Duration { return t.copied })
		b.atLeast(3, medianOf(turns, func(t ingestTurn) float64 { return ratio(t.copied, t.phases["store"]) }), 0.5,
			site+": speed of the store phase to COPY of the JSON texts",
			fmt.Sprintf("%s, %s", short(store), short(copied)))
		b.atMost(3, medianOf(turns, func(t ingestTurn) float64 { return ratio(t.phases["turn"], t.phases["store"]) }), 1.5,
			site+": time under the turn to write to the store phase",
			short(medianOf(turns, func(t ingestTurn) time.Duration { return t.phases["turn"] })))
	}
}

func (b *bench) reportAgain(site string, turns []ingestTurn) {
	one := medianOf(turns, func(t ingestTurn) time.Duration { return t.one })
	none := medianOf(turns, func(t ingestTurn) time.Duration { return t.none })
	b.atLeast(2, medianOf(turns, func(t ingestTurn) float64 { return ratio(t.cold, t.one) }), 25,
		site+": one document changed, times faster than cold", short(one))
	b.atLeast(2, medianOf(turns, func(t ingestTurn) float64 { return ratio(t.cold, t.none) }), 60,
		site+": nothing changed, times faster than cold", short(none))
	bare := medianOf(turns, func(t ingestTurn) time.Duration { return t.bare })
	b.infof(2, site+": the same to a server that only reads the body and writes the answer, times faster than cold",
		"%.2fx  (%s)", medianOf(turns, func(t ingestTurn) float64 { return ratio(t.cold, t.bare) }), short(bare))
	wrote := medianOf(turns, func(t ingestTurn) int64 { return t.transactions })
	b.add(2, wrote == 0, "0", site+": nothing changed, transactions that wrote a row", strconv.FormatInt(wrote, 10))
}

// phaseText describes how long the phases of a cold ingest take. The remaining time is spent on reading the body and
// writing the answer.
func phaseText(turns []ingestTurn, cold time.Duration) string {
	rest := cold
	var parts []string
	for _, phase := range []string{"split", "decode", "plan", "check", "pack", "store"} {
		spent := medianOf(turns, func(t ingestTurn) time.Duration { return t.phases[phase] })
		rest -= spent
		parts = append(parts, phase+" "+short(spent))
	}
	return strings.Join(append(parts, "rest "+short(rest)), ", ")
}
