package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
)

// changing is the number of documents that differ between the first whole revision of a wide site and its newest one.
const changing = 10

// whole is the first revision of a wide site that has all documents.
const whole = 2

// wide is a site of many documents, a few of which change in every revision. The few are in a bucket of their own, so
// that a long history takes little time to create.
type wide struct {
	*server

	kept    *store.Store // on the server's database, in process
	service queries.View // on kept
	site    *site
	few     *bucket // the documents that change
	many    *bucket // the other documents
	newest  int64   // revision
}

// bucket is a part of a wide site. Each PUT changes values in ten of its documents.
type bucket struct {
	*wide

	name     string
	head     string // the text before its documents
	from, to int    // indexes of its documents in the site; the first ten change first
	version  int
	body     []byte // the body of the next PUT
}

// revise changes the values of some documents. from and to count from the bucket's first document.
func (k *bucket) revise(from, to int) {
	k.version++
	for i := from; i < to; i++ {
		k.site.change(k.from+i, k.version)
	}
	k.body = []byte(k.head + strings.Join(k.site.documents[k.from:k.to], ""))
}

func (k *bucket) put() { k.server.put(k.name, k.body) }

// prepare changes ten documents of the first whole revision, and prepares a body that changes them again. After it, the
// server has the bucket in memory, as after any PUT; a rollback removes it from memory.
func (k *bucket) prepare() {
	k.revise(0, changing)
	k.put()
	k.revise(0, changing)
}

// wideSites measures rows 8 to 10, on a site with a long history and on one with a short one.
func (r *run) wideSites() {
	r.sayf("rows 8-10: %d and %d revisions of %d documents of %s", r.revisions, changing, r.wide, small().label)
	long, brief := r.wideSite("wide_long", r.revisions), r.wideSite("wide_brief", changing)
	// First without statistics, as up to a minute after a site is uploaded.
	byKey, byName := long.few.readers()
	r.compare(8, compared{
		repeats: often, limit: 3, against: byKey, measured: byName(long.newest, false),
		what: "by name from head while the database has no statistics, to one by key",
	})
	r.compare(9, compared{
		repeats: often, limit: 5, against: long.byKeys(), measured: long.diff,
		what: "diff while the database has no statistics, to the rows by key",
	})
	long.vacuum()
	brief.vacuum()
	r.selects(long, brief)
	r.diffs(long, brief)
	if r.wants(10) {
		r.rollbacks(long, brief)
	}
	if r.wants(8) {
		r.selectsBeforeChange(long)
	}
}

// wideSite creates a site with the given number of revisions after the first whole one.
func (r *run) wideSite(name string, history int) *wide {
	w := &wide{server: r.start(name), site: newSite(small(), r.wide)}
	for _, table := range []string{"documents", "contents", "revisions"} { // the bench decides when there are statistics
		w.exec("ALTER TABLE " + table + " SET (autovacuum_enabled = false)")
	}
	w.few = &bucket{wide: w, name: "few", from: r.wide - changing, to: r.wide}
	w.many = &bucket{wide: w, name: "many", head: w.site.schema, to: r.wide - changing}
	for _, part := range []*bucket{w.many, w.few} {
		part.revise(0, 0)
		part.put()
	}
	for i := range history {
		w.few.revise(i%changing, i%changing+1)
		w.few.put()
	}
	w.kept = r.openStore(w.database)
	w.service = newQueries(w.kept, newEngine())
	var err error
	w.newest, err = w.kept.Latest(r.ctx)
	must("find the newest revision", err)
	// Exactly as many documents must differ as a comparison assumes.
	found, err := w.kept.Compare(r.ctx, whole, w.newest)
	must("compare the first revision with the newest", err)
	w.mustBe(len(found.Removed) == changing && len(found.Added) == changing, len(found.Added))
	return w
}

// mustBe ends the run if what was measured is not what was meant.
func (*wide) mustBe(ok bool, found int) {
	if !ok {
		must("measure", fmt.Errorf("%w: %d documents", errOther, found))
	}
}

// version is a row of a document.
type version struct {
	id, place, since            int64
	bucket, schema, layer, name string
	content, segment, notes     []byte
	metadata, body              []byte
}

// Queries by key, with the columns that the server reads. For comparisons, it does not read contents.
const (
	versionColumns = `d.id, d.place, d.since, d.bucket, d.schema, d.layer, d.name, d.content, d.segment, d.metadata,
		d.notes`

	versionByKey = `SELECT ` + versionColumns + `, c.body FROM documents d
		JOIN contents c ON c.site = d.site AND c.digest = d.content WHERE d.site = $1 AND d.id = $2`

	versionsByKeys = `SELECT ` + versionColumns + `, NULL::bytea FROM documents d WHERE d.site = $1 AND d.id = ANY($2)`

	liveOfBucket = `SELECT ` + versionColumns + `, NULL::bytea FROM documents d
		WHERE d.site = $1 AND d.bucket = $2 AND d.until IS NULL ORDER BY d.place`
)

// selected reads rows through the bench's own connections.
func (w *wide) selected(sql string, key any) (found []version) {
	rows, err := w.db.Query(w.ctx, sql, "default", key)
	must("select", err)
	var v version
	_, err = pgx.ForEachRow(rows, []any{
		&v.id, &v.place, &v.since, &v.bucket, &v.schema, &v.layer, &v.name, &v.content, &v.segment, &v.metadata, &v.notes,
		&v.body,
	}, func() error {
		found = append(found, v)
		return nil
	})
	must("select", err)
	return found
}

// cycle returns a function that returns the live documents of the bucket, each in turn.
func (k *bucket) cycle() func() version {
	documents, next := k.selected(liveOfBucket, k.name), 0
	return func() version {
		next++
		return documents[next%len(documents)]
	}
}

// readers returns work that reads documents of the bucket, each in turn: one that reads its newest version by key, and
// one that reads it from a revision by its name and perhaps its schema.
func (k *bucket) readers() (byKey func(), byName func(revision int64, schema bool) func()) {
	next := k.cycle()
	byKey = func() {
		found := len(k.selected(versionByKey, next().id))
		k.mustBe(found == 1, found)
	}
	return byKey, func(revision int64, schema bool) func() {
		return func() {
			doc := next()
			selection := queries.Selection{Names: []string{doc.name}, Page: queries.Page{Limit: -1}}
			if schema {
				selection.Schemas = []string{doc.schema}
			}
			selected, err := k.service.Documents(k.ctx, revision, selection)
			must("select documents", err)
			k.mustBe(len(selected.Documents) == 1, len(selected.Documents))
		}
	}
}

// selects measures row 8: reading documents that every tenth revision changes, to reading them by key, and after a long
// history to after a short one.
func (r *run) selects(long, brief *wide) {
	byKey, byName := long.few.readers()
	client, next := r.wires(long.server, 1)[0], long.few.cycle()
	what := fmt.Sprintf("one of %d documents after %d revisions by ", r.wide, long.newest)
	old := fmt.Sprintf("revision %d", whole)
	for _, at := range []struct {
		revision int64
		label    string
	}{{long.newest, "head"}, {whole, old}} {
		for i, label := range []string{"name", "name and schema"} {
			r.compare(8, compared{
				repeats: often, limit: 3, against: byKey, measured: byName(at.revision, i > 0),
				what: what + label + " from " + at.label + ", to one by key",
			})
		}
	}
	r.compare(8, compared{
		repeats: often, against: byKey, measured: func() {
			revision, err := long.service.Resolve(r.ctx, "latest")
			must("find the newest revision", err)
			byName(revision, false)()
		},
		what: what + "name from latest, whose number is read before",
	})
	for _, revision := range []string{"latest", strconv.Itoa(whole)} {
		r.compare(8, compared{
			repeats: often, against: byKey, measured: func() {
				query := "metadata.name=" + url.QueryEscape(next().name)
				client.send(message(http.MethodGet, allRevisions+"/"+revision+"/documents?"+query, nil))
			},
			what: "the same by GET, name from " + revision,
		})
	}
	lastingByKey, lastingByName := long.many.readers()
	_, briefByName := brief.few.readers()
	histories := fmt.Sprintf(", after %d revisions to after %d", long.newest, brief.newest)
	r.compare(8, compared{
		repeats: often, limit: 3, against: lastingByKey, measured: lastingByName(long.newest, false),
		what: "a document that never changed by name from head, to one by key",
	}, compared{
		repeats: often, limit: 1.2, against: briefByName(brief.newest, false), measured: byName(long.newest, false),
		what: "by name from head" + histories,
	}, compared{
		repeats: often, limit: 1.2, against: briefByName(whole, false), measured: byName(whole, false),
		what: "by name from " + old + histories,
	})
}

// selectsBeforeChange measures the last part of row 8. It reads from a revision before one in which all documents
// changed, so that the index has all their versions in one node.
func (r *run) selectsBeforeChange(long *wide) {
	changed := r.wide - changing
	long.many.revise(0, changed)
	long.many.put()
	long.vacuum()
	byKey, byName := long.many.readers()
	r.compare(8, compared{
		repeats: often, limit: 3, against: byKey, measured: byName(whole, false),
		what: fmt.Sprintf("by name from revision %d, before one that changed %d, to one by key", whole, changed),
	})
}

// diff compares the first whole revision with the newest one, in process.
func (w *wide) diff() {
	buckets, err := w.service.Diff(w.ctx, whole, w.newest)
	must("compare", err)
	w.mustBe(len(buckets) == 2 && buckets[0].Difference == revisions.Modified, len(buckets))
}

// byKeys returns work that reads the rows of the documents that differ.
func (w *wide) byKeys() func() {
	var ids []int64
	for _, doc := range w.selected(liveOfBucket, w.few.name) {
		ids = append(ids, doc.id)
	}
	return func() {
		found := len(w.selected(versionsByKeys, ids))
		w.mustBe(found == changing, found)
	}
}

// diffs measures row 9.
func (r *run) diffs(long, brief *wide) {
	client, byKeys := r.wires(long.server, 1)[0], long.byKeys()
	request := message(http.MethodGet, fmt.Sprintf("%s/%d/diff/%d", allRevisions, whole, long.newest), nil)
	what := fmt.Sprintf("diff of revisions %d and %d, %d of %d documents differ", whole, long.newest, changing, r.wide)
	r.compare(9, compared{
		repeats: often, limit: 5, against: byKeys, measured: long.diff,
		what: fmt.Sprintf("%s, to the %d rows by key", what, changing),
	}, compared{
		repeats: often, limit: 1.2, against: brief.diff, measured: long.diff,
		what: fmt.Sprintf("%s, to the same over %d revisions", what, brief.newest-whole),
	}, compared{
		repeats: often, against: byKeys, measured: func() { client.send(request) },
		what: "the same by GET, to the rows by key",
	})
}

// rollback rolls back to the first whole revision.
func (w *wide) rollback() {
	w.send(http.MethodPost, fmt.Sprintf("%s/rollback/%d", api, whole), nil, io.Discard)
}

// rollbacks measures row 10: over a long history to over a short one, and to PUTs that change the same.
func (r *run) rollbacks(long, brief *wide) {
	r.compare(10, compared{
		limit: 1.2, repeats: rarely, measured: long.rollback, against: brief.rollback,
		before: func() {
			long.few.prepare()
			brief.few.prepare()
		},
		what: fmt.Sprintf("rollback over %d and more revisions to one over %d and more", r.revisions, changing),
	})
	for _, k := range []*bucket{long.few, long.many} {
		long.rollback()
		r.compare(10, compared{
			limit: 3, repeats: rarely, before: k.prepare, measured: long.rollback, against: k.put,
			what: fmt.Sprintf("rollback over %d and more revisions, %d documents differ of a bucket of %d, to a PUT of it "+
				"that changes the same", r.revisions, changing, k.to-k.from),
		})
	}
}
