package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/store/migration"
)

// chronicle is a server with a site in which each revision changes one document.
type chronicle struct {
	*server

	site     *site
	revision int // the newest
}

// begin creates a site whose first revision has all documents.
func (r *run) begin(k kind, name string) *chronicle {
	c := &chronicle{server: r.start(name), site: newSite(k, r.docs)}
	c.putNext()
	c.vacuum()
	return c
}

func (c *chronicle) putNext() {
	c.put("site", append([]byte(c.site.schema), c.site.body()...))
	c.revision++
}

// change adds a revision that changes one document, and returns the document.
func (c *chronicle) change() string {
	i := c.revision % len(c.site.documents)
	c.site.change(i, c.revision)
	c.putNext()
	return c.site.documents[i]
}

func (c *chronicle) documents(revision int) func() {
	return func() { c.get(fmt.Sprintf("%s/%d/documents", allRevisions, revision)) }
}

// pageSize is the number of revisions on a page of the list: as many as the short history has.
const pageSize = 10

func (c *chronicle) list(offset int) func() {
	return func() { c.get(fmt.Sprintf("%s?limit=%d&offset=%d", allRevisions, pageSize, offset)) }
}

// vacuumEvery is the number of revisions between vacuums of the database. The dead rows of replaced documents do not
// count as growth, because their space is reused, but only after a vacuum. Autovacuum, which runs after about 250 of
// them, would count as growth at first and as none later.
const vacuumEvery = 10

// tableBytes returns the size of all tables and indexes.
const tableBytes = `SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_stat_user_tables`

// history measures rows 4 and 5 for a kind of documents, on a site with a long history and on one with a short history.
func (r *run) history(k kind) {
	r.sayf("rows 4-5: %d revisions of %d documents of %s", r.revisions, r.docs, k.label)
	long, brief := r.begin(k, "long_"+k.database()), r.begin(k, "brief_"+k.database())
	for range pageSize - 1 {
		brief.change()
	}
	packer, err := zstd.NewWriter(nil)
	must("make a compressor", err)
	r.cleanup(packer.Close)
	packed, sizes := []int{}, []int64{long.number(tableBytes)} // of each changed document; after each vacuum
	for i := range r.revisions {
		packed = append(packed, len(packer.EncodeAll([]byte(long.change()), nil)))
		if (i+1)%vacuumEvery == 0 {
			long.vacuum()
			sizes = append(sizes, long.number(tableBytes))
		}
	}
	site := fmt.Sprintf("%d x %s: ", r.docs, k.label)
	last := r.revisions / vacuumEvery
	part := max(last/10, 1)
	for _, span := range [][2]int{{0, last}, {0, part}, {last - part, last}} {
		from, to := span[0]*vacuumEvery, span[1]*vacuumEvery
		n, sum := float64(to-from), 0
		for _, size := range packed[from:to] {
			sum += size
		}
		added, compressed := float64(sizes[span[1]]-sizes[span[0]])/n, float64(sum)/n
		allowed := 1.3*compressed + 1024
		r.add(4, added <= allowed, fmt.Sprintf("<= %.0f", allowed),
			fmt.Sprintf("%sbytes a revision adds, %d to %d (tables and indexes, vacuumed every %d)", site, from+1, to+1,
				vacuumEvery), fmt.Sprintf("%.0f  (document %.0f compressed)", added, compressed))
	}
	r.reads(site, long, brief)
}

// reads measures row 5: whether documents of an old revision cost more than those of the one before head, which are
// also read from the database.
func (r *run) reads(site string, long, brief *chronicle) {
	before := long.revision - 1
	to := fmt.Sprintf(" to those of %d", before)
	var pairs []compared
	for _, revision := range []int{1, r.revisions / 2} {
		pairs = append(pairs, compared{
			limit: 1.2, against: long.documents(before), measured: long.documents(revision),
			what: fmt.Sprintf("%sdocuments of revision %d%s", site, revision, to),
		})
	}
	r.compare(5, append(pairs, compared{
		limit: 1, against: long.documents(before), measured: long.documents(long.revision),
		what: site + "documents of head, from memory," + to,
	}, compared{
		limit: 1.2, against: brief.list(0), measured: long.list(0),
		what: fmt.Sprintf("%sfirst page of %d of %d revisions to one of %d", site, pageSize, long.revision, brief.revision),
	}, compared{
		against: brief.list(0), measured: long.list(long.revision - pageSize),
		what: fmt.Sprintf("%slast page of %d revisions to one of %d", site, long.revision, brief.revision),
	})...)
}

// prunes measures row 17: how long PUTs into other buckets take while half of the revisions are pruned. A prune takes
// little time, so several copies of a site are pruned once each, and all PUTs count.
func (r *run) prunes() {
	const copies, putters, slowest = 3, 4, 99
	history := 2 * r.revisions
	r.sayf("row 17: %d PUTs at a time beside a prune of half of %d revisions", putters, history)
	database := r.create("prune", "template1")
	r.part(func(r *run) { r.fillHistory(database, history) })
	took := series{}
	for i := range min(r.rounds, copies) {
		name := fmt.Sprintf("prune_%d", i)
		r.part(func(r *run) {
			s := r.startOn(name, r.create(name, "prune"))
			putForSpan := func() times {
				began := time.Now()
				return putWhile(s, putters, func() bool { return time.Since(began) < r.span })
			}
			putForSpan() // a warm-up
			took["alone"] = append(took["alone"], putForSpan()...)
			pruned := make(chan error, 1)
			go func() {
				defer close(pruned)
				pruned <- attempt(func() {
					took.time("prune", func() {
						s.send(http.MethodPost, fmt.Sprintf("%s/prune?keep=%d", allRevisions, history/2), nil, io.Discard)
					})
				})
			}()
			beside := putWhile(s, putters, func() bool { return len(pruned) == 0 })
			must("prune", <-pruned)
			took["beside"] = append(took["beside"], beside...)
		})
	}
	beside, alone := took["beside"], took["alone"]
	slow, usual := percentile(beside, slowest), percentile(alone, slowest)
	r.atMost(17, ratio(slow, usual), 2, fmt.Sprintf("PUT while half of %d revisions are pruned to PUT before, p99 of %d "+
		"and %d by %d clients", history, len(beside), len(alone), putters), "%s, %s", short(slow), short(usual))
	r.infof(17, "the same, median", "%.2fx  (%s, %s)", ratio(median(beside), median(alone)), beside, alone)
	r.infof(17, fmt.Sprintf("such a prune of %d versions", changing*(history/2-1)), "%s", took["prune"])
}

// fillHistory creates revisions that change all documents of a small bucket.
func (r *run) fillHistory(database string, history int) {
	must("migrate", migration.Migrate(r.ctx, database))
	u, err := url.Parse(database)
	must("read the URL of the database", err)
	query := u.Query()
	query.Set("synchronous_commit", "off")
	u.RawQuery = query.Encode()
	db := r.connect(database)
	service, site := newService(r.openStore(u.String()), newEngine()), newSite(small(), changing)
	for revision := range history {
		const often = 100 // otherwise, dead rows and outdated plans would slow it down
		if revision%often == 0 {
			_, err := db.Exec(r.ctx, "VACUUM ANALYZE")
			must("vacuum", err)
		}
		for i := range site.documents {
			site.change(i, revision)
		}
		_, err := service.Put(r.ctx, "site", site.body(), document.YAML, revisions.Options{})
		must("fill a site", err)
	}
}

// putWhile lets clients repeatedly PUT one document each, until goOn returns false.
func putWhile(s *server, clients int, goOn func() bool) times {
	took := make([]times, clients)
	concurrently(clients, func(client int) {
		for goOn() {
			var body strings.Builder
			name := fmt.Sprintf("put-%d", client)
			writeHead(&body, "bench/Free/v1", name, "any")
			fmt.Fprintf(&body, "  at: %d\n", time.Now().UnixNano())
			took[client] = append(took[client], timed(func() { s.put(name, []byte(body.String())) }))
		}
	})
	return slices.Concat(took...)
}
