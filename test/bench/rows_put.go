package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/validations"
)

const createCopyTable = `CREATE TABLE bench_copy (digest bytea PRIMARY KEY, data text NOT NULL, metadata text NOT NULL)`

// nextTransaction returns the next transaction id. Only transactions that write a row get one. It is exact immediately,
// while statistics of written rows lag by up to ten seconds. Transactions of autovacuum count too, so the median of all
// turns is used.
const nextTransaction = `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint`

// ingests measures rows 1 to 3 for a kind of documents.
func (r *run) ingests(k kind) {
	const repeats = 5 // of quick work within a turn
	r.sayf("rows 1-3: %d documents of %s", r.docs, k.label)
	s := r.start("ingest_" + k.database())
	s.exec(createCopyTable)
	site := newSite(k, r.docs)
	checker, err := compile(r.ctx, k)
	must("compile the DataSchema", err)
	bare := r.startBare(s.fetch(http.MethodPut, documentsOf("site"), site.body()))
	took, version := series{}, 0
	var wrote []int64
	for turn := range 1 + r.rounds {
		s.reset(k.schema)
		body := site.body()
		before := s.phases()
		took.time("cold", func() { s.put("site", body) })
		for phase, spent := range s.phases() {
			took.add(phase, spent-before[phase])
		}
		s.checkSuccess()

		var docs []*document.Document
		decode := func(workers int) func() {
			runtime.GC() // do not count earlier garbage
			return func() {
				docs, err = decodeAndCheck(r.ctx, body, checker, workers)
				must("decode and check", err)
			}
		}
		took.time("alone", decode(1))
		took.time("together", decode(cores()))
		r.copyInto(s, docs, took)

		bodies := make([][]byte, repeats)
		for i := range bodies {
			version++
			site.change(version%r.docs, version)
			bodies[i] = site.body()
		}
		took.add("one", medianTime(repeats, func(i int) { s.put("site", bodies[i]) }))
		same, next := bodies[repeats-1], s.number(nextTransaction)
		took.add("none", medianTime(repeats, func(int) { s.put("site", same) }))
		wrote = append(wrote, s.number(nextTransaction)-next)
		took.add("bare", medianTime(repeats, func(int) { bare.put("site", same) }))
		if turn == 0 { // a warm-up
			clear(took)
			wrote = nil
		}
	}
	r.reportIngests(fmt.Sprintf("%d x %s: ", r.docs, k.label), len(site.body()), took, median(wrote))
}

// copyInto copies the same bytes to the same cluster, durably, in the quickest way.
func (r *run) copyInto(s *server, docs []*document.Document, took series) {
	s.exec("TRUNCATE bench_copy")
	rows := make([][]any, len(docs))
	for i, doc := range docs {
		rows[i] = []any{doc.Digest[:], string(doc.Data), string(doc.Metadata)}
	}
	columns := []string{"digest", "data", "metadata"}
	took.time("copy", func() {
		must("copy", pgx.BeginFunc(r.ctx, s.db, func(tx pgx.Tx) error {
			_, err := tx.CopyFrom(r.ctx, pgx.Identifier{"bench_copy"}, columns, pgx.CopyFromRows(rows))
			return err //nolint:wrapcheck // wrapped by must
		}))
	})
}

func (r *run) reportIngests(site string, size int, took series, wrote int64) {
	cold := took["cold"]
	r.atLeast(1, took["alone"].over(cold), 0.6, site+"speed of a cold ingest to decode and check on one goroutine",
		"%s, %s; %.1f KB", cold, took["alone"], float64(size)/1000)
	r.infof(1, site+"the same to decode and check on all cores", "%.2fx  (%s)", took["together"].over(cold),
		took["together"])
	// The remaining time is spent on reading the body and writing the answer.
	rest := median(cold)
	var parts []string
	for _, phase := range []string{"split", "decode", "plan", "check", "pack", "store"} {
		rest -= median(took[phase])
		parts = append(parts, phase+" "+took[phase].String())
	}
	r.infof(1, site+"phases of the cold ingest", "%s", strings.Join(append(parts, "rest "+short(rest)), ", "))
	r.atLeast(2, cold.over(took["one"]), 25, site+"one document changed, times faster than cold", "%s", took["one"])
	r.atLeast(2, cold.over(took["none"]), 60, site+"nothing changed, times faster than cold", "%s", took["none"])
	r.infof(2, site+"the same to a server that only reads the body and writes the answer, times faster than cold",
		"%.2fx  (%s)", cold.over(took["bare"]), took["bare"])
	r.add(2, wrote == 0, "0", site+"nothing changed, transactions that wrote a row", strconv.FormatInt(wrote, 10))
	r.atLeast(3, took["copy"].over(took["store"]), 0.5, site+"speed of the store phase to COPY of the JSON texts",
		"%s, %s", took["store"], took["copy"])
	r.atMost(3, took["turn"].over(took["store"]), 1.5, site+"time under the turn to write to the store phase",
		"%s", took["turn"])
}

const mebibyte = 1 << 20

// memory measures row 7 on a new server.
func (r *run) memory() {
	r.sayf("row 7: memory during an ingest of %d MiB", r.body/mebibyte)
	if !r.hasProc(7) {
		return
	}
	s := r.start("memory")
	idle := s.resident("VmRSS")
	r.add(7, idle <= 64, "<= 64", "resident memory when idle, MiB", fmt.Sprintf("%.1f", idle))

	body := siteOfSize(large(), r.body)
	s.put("schemas", []byte(large().schema))
	took := timed(func() { s.put("site", body) })
	peak, size := s.resident("VmHWM"), float64(len(body))/mebibyte
	allowed := 6*size + 64
	r.add(7, peak <= allowed, fmt.Sprintf("<= %.0f", allowed),
		fmt.Sprintf("the most during an ingest of %.1f MiB, MiB", size),
		fmt.Sprintf("%.1f  (%.1fx the body above idle; took %s)", peak, (peak-idle)/size, short(took)))
	const while = 2 * time.Second
	time.Sleep(while)
	r.infof(7, "resident memory "+while.String()+" later, MiB", "%.1f", s.resident("VmRSS"))
}

// hasProc reports whether memory can be measured, and if not, says so in the table.
func (r *run) hasProc(row int) bool {
	_, err := os.Stat("/proc/self/status")
	if err != nil {
		r.infof(row, "memory", "not measured: there is no /proc here")
	}
	return err == nil
}

// policies measures row 13: a site whose policy requires the validations of the whole revision, and one without.
func (r *run) policies() {
	site := r.layered()
	r.sayf("row 13: %s with and without the validations of the whole", site.label)
	schemas := validations.SchemaValidation
	plain, putPlain := r.police("unasked", site, schemas)
	policed, putPoliced := r.police("asked", site, schemas, validations.PolicyValidation, validations.RenderingValidation)
	const asked = "a policy asks for policy and rendering validation, to it asks for neither"
	r.compare(13, compared{
		repeats: rarely, limit: 1.5, against: putPlain, measured: putPoliced,
		before: func() {
			policed.reset("")
			plain.reset("")
		},
		what: site.label + ": PUT into an empty site, schemas compiled before, " + asked,
	}, compared{
		against: putPlain, measured: putPoliced, what: site.label + ": PUT with one document changed, " + asked,
	})
}

// police starts a server with a site whose policy requires some validations, and checks that the site passes all of
// them. put puts another version of it each time.
func (r *run) police(name string, site layered, required ...string) (s *server, put func()) {
	s = r.start(name)
	text := fmt.Appendf(nil, `%s
---
schema: deckhand/ValidationPolicy/v1
metadata:
  schema: metadata/Control/v1
  name: bench
data:
  validations: [{name: %s}]
`, bytes.TrimRight(site.body, "\n"), strings.Join(required, "}, {name: "))
	version := 0
	put = func() {
		version++
		s.put("site", append(bytes.Clone(text), note("note", version)...))
	}
	put()
	s.checkSuccess()
	return s, put
}

// note returns a document on which no other depends.
func note(name string, version int) []byte {
	return fmt.Appendf(nil, `---
schema: bench/Note/v1
metadata:
  schema: metadata/Document/v1
  name: %s
  storagePolicy: cleartext
  layeringDefinition: {abstract: false, layer: site}
data: {version: %d}
`, name, version)
}

// secrets measures row 15: uploads of a site whose documents are all encrypted, to uploads of it in cleartext.
func (r *run) secrets(k kind) {
	r.sayf("row 15: %d documents of %s, in clear and encrypted", r.docs, k.label)
	s := r.start("secrets_"+k.database(), r.keyset())
	inClear := newSite(k, r.docs).body()
	encrypted := bytes.ReplaceAll(inClear, []byte("storagePolicy: cleartext"), []byte("storagePolicy: encrypted"))
	put := func(body []byte) func() {
		return func() {
			s.put("site", body)
			s.checkSuccess()
		}
	}
	r.compare(15, compared{
		limit: 1.25, repeats: rarely, against: put(inClear), measured: put(encrypted),
		before: func() { s.reset(k.schema) },
		what:   fmt.Sprintf("PUT of %d new documents of %s, all of them encrypted, to all in clear", r.docs, k.label),
	})
}

// keyset creates a keyset file, and returns the flag that names it.
func (r *run) keyset() string {
	keyset := filepath.Join(r.dir, "keyset.json")
	_ = os.Remove(keyset)
	r.output(r.binary, "secrets", "new", "--secrets-keyset", keyset)
	return "--secrets-keyset=" + keyset
}

// defaults measures row 18: the cost that the default validations of the whole revision add to a PUT.
func (r *run) defaults() {
	site := newSite(small(), r.docs)
	r.sayf("row 18: %d documents of %s, all validations and that of schemas alone", r.docs, site.label)
	all, some := r.start("whole", allValidations()), r.start("schemas")
	whole, turn := site.body(), 0
	put := func(s *server) func() { return func() { s.put("site", whole) } }
	change := func(s *server) func() {
		return func() {
			turn++
			s.put("one", note("one", turn))
		}
	}
	r.compare(18, compared{
		limit: 1.15, repeats: rarely, against: put(some), measured: put(all),
		before: func() {
			all.reset(site.schema + twoLayers)
			some.reset(site.schema + twoLayers)
		},
		what: fmt.Sprintf("PUT of %d new documents with all validations to that with schemas only", r.docs),
	}, compared{
		repeats: often, against: change(some), measured: change(all),
		what: fmt.Sprintf("PUT of one other document into a site of %d, the same", r.docs),
	})
}

// coldSites measures row 19: a PUT into an empty site, relative to yaml.v3 parsing the same text into nodes. It leaves
// out real sites that are not available.
func (r *run) coldSites() {
	s := r.start("coldsites")
	measure := func(label, schema string, body []byte, limit float64) {
		r.sayf("row 19: %s", label)
		r.compare(19, compared{
			limit: limit, repeats: rarely, before: func() { s.reset(schema) },
			measured: func() { s.put("site", body) }, against: func() { readNodes(body) },
			what: label + ": PUT into an empty site, schemas compiled before, to yaml.v3 reading it into nodes",
		})
	}
	own := newSite(small(), r.docs)
	measure(fmt.Sprintf("%d x %s", r.docs, own.label), own.schema, own.body(), 0.8)
	for name, limit := range map[string]float64{"tm19-airskiff": 0.9, "aiab-demo": 1} {
		if body := r.corpus(name); body != nil {
			measure(name, "", body, limit)
		}
	}
}

// corpus returns the documents of a real site, nil if it is not available.
func (o *options) corpus(name string) []byte {
	body, err := os.ReadFile(o.corpusFile(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	must("read "+name, err)
	return body
}

func (o *options) corpusFile(name string) string {
	return filepath.Join(o.shared, "corpus", name, "documents.yaml")
}
