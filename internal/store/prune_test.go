package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// errKilled ends a prune between two steps.
var errKilled = errors.New("killed")

// pruner is a site with prunes in separate steps: one server prunes, and another one acts between the steps.
type pruner struct {
	failer

	pruning, store *store.Store
	site           site // over store
	conn, watching *pgx.Conn

	views map[int64]string // of the remaining revisions
	tags  map[int64]bool
	head  int64
}

func newPruner(t *testing.T) *pruner {
	t.Helper()
	url := storetest.URL(t)
	return &pruner{
		failer: t, pruning: openStore(t, url, defaults()), store: openStore(t, url, defaults()), site: open(t, url),
		conn: storetest.Connect(t, url), watching: storetest.Connect(t, url),
	}
}

// begin returns the pruner of an empty site.
func (p *pruner) begin(t failer) *pruner {
	t.Helper()
	if err := p.site.Purge(context.Background(), revisions.Options{}); err != nil {
		t.Fatalf("purge: %v", err)
	}
	begun := *p
	begun.failer, begun.views, begun.tags, begun.head = t, map[int64]string{}, map[int64]bool{}, 0
	return &begun
}

// wrote notes a change.
func (p *pruner) wrote(written changes.Written, err error) {
	p.Helper()
	if err != nil {
		p.Fatalf("change: %v", err)
	}
	if written.Changed {
		p.head = written.Revision
		p.views[p.head] = p.view(p.head)
	}
}

func (p *pruner) put(bucket, body string) {
	p.Helper()
	p.wrote(p.site.Put(context.Background(), bucket, []byte(body), document.YAML, revisions.Options{}))
}

// view shows everything that depends on data a prune deletes: the documents, the failures and the fallback policy.
func (p *pruner) view(revision int64) string {
	p.Helper()
	lines, ctx := shown(p, p.site, revision), context.Background()
	entries, err := p.site.Entries(ctx, revision, validations.SchemaValidation, all().Page)
	if err != nil {
		p.Fatalf("entries of %d: %v", revision, err)
	}
	for i, entry := range entries.Entries {
		if entry.Status != validations.Failure.String() {
			continue
		}
		entry, err := p.site.Entry(ctx, revision, validations.SchemaValidation, i)
		text := fmt.Sprintf("%s", entry.Errors)
		if err != nil || !strings.Contains(text, "string") {
			p.Fatalf("entry %d of %d: %s, %v", i, revision, text, err)
		}
		lines = append(lines, text)
	}
	buckets, err := p.site.Diff(ctx, 0, revision)
	if err != nil {
		p.Fatalf("buckets of %d: %v", revision, err)
	}
	lines = append(lines, fmt.Sprint(buckets))
	fallback, err := p.store.FallbackPolicy(ctx, revision)
	if err != nil {
		p.Fatalf("fallback of %d: %v", revision, err)
	}
	if fallback != nil && fallback.Revision <= revision {
		lines = append(lines, "fallback "+string(fallback.Data))
	}
	return strings.Join(lines, "\n")
}

// forget removes from the model the revisions that a prune deletes, and returns them.
func (p *pruner) forget(keep int) (gone []int64) {
	left := slices.Sorted(maps.Keys(p.views))
	for _, revision := range left[:max(0, len(left)-keep)] {
		if !p.tags[revision] {
			gone = append(gone, revision)
			delete(p.views, revision)
		}
	}
	return gone
}

// prune calls between after each step, until that returns false, and returns how many steps there were.
func (p *pruner) prune(keep int, between func(step int) (goOn bool)) (steps int) {
	p.Helper()
	p.pruning.AfterStep(func(int) error {
		if steps++; steps == 1 {
			p.forget(keep)
		}
		if between(steps) {
			return nil
		}
		return errKilled
	})
	defer p.pruning.AfterStep(nil)
	if _, err := p.pruning.Prune(context.Background(), keep, revisions.Options{}); err != nil && !errors.Is(err, errKilled) {
		p.Fatalf("prune: %v", err)
	}
	return steps
}

// check compares the site with the model.
func (p *pruner) check() {
	p.Helper()
	list, err := p.site.List(context.Background(), queries.Query{Page: queries.Page{Limit: -1}})
	if err != nil {
		p.Fatalf("list: %v", err)
	}
	now := map[int64]string{}
	for _, revision := range list.Revisions {
		now[revision.ID] = p.view(revision.ID)
	}
	if diff := cmp.Diff(p.views, now); diff != "" {
		p.Fatalf("what remaining revisions show (-before +after)\n%s", diff)
	}
	p.none("versions without content", `SELECT count(*) FROM documents d LEFT JOIN contents c ON c.digest = d.content
		WHERE c.digest IS NULL AND (d.until IS NULL OR EXISTS (
			SELECT FROM revisions r WHERE r.revision >= d.since AND r.revision < d.until))`)
	p.none("versions without their texts", `SELECT count(*) FROM documents d WHERE d.text IS NOT NULL AND d.text / 32 NOT IN (SELECT block FROM texts)`)
}

func (p *pruner) none(what, sql string) {
	p.Helper()
	var n int
	if err := p.conn.QueryRow(context.Background(), sql).Scan(&n); err != nil || n != 0 {
		p.Fatalf("%d %s, %v", n, what, err)
	}
}

// settle prunes once more as a dry run says, which leaves nothing that no revision needs.
func (p *pruner) settle(keep int) {
	p.Helper()
	said, err := p.pruning.Prune(context.Background(), keep, revisions.Options{DryRun: true})
	if err != nil {
		p.Fatalf("dry run: %v", err)
	}
	p.check()
	gone := p.forget(keep)
	done, err := p.pruning.Prune(context.Background(), keep, revisions.Options{})
	if diff := cmp.Diff(said, done, cmpopts.EquateEmpty()); err != nil || diff != "" {
		p.Fatalf("prune: %v (-dry run +done)\n%s", err, diff)
	}
	if !slices.Equal(gone, done.Revisions) || done.Remaining != len(p.views) {
		p.Fatalf("pruned %+v, want %v and %d left", done, gone, len(p.views))
	}
	p.check()
	p.none("failures", `SELECT count(*) FROM entries f WHERE NOT EXISTS (
		SELECT FROM revisions r WHERE r.revision = f.revision)`)
	p.none("versions", `SELECT count(*) FROM documents d WHERE NOT EXISTS (SELECT FROM revisions r
			WHERE r.revision >= d.since AND r.revision < coalesce(d.until, r.revision + 1))
		AND d.id NOT IN (SELECT p.id FROM (
				SELECT id, since, lead(since) OVER (ORDER BY since) AS superseded FROM documents
				WHERE schema LIKE 'deckhand/LayeringPolicy/%') p
			WHERE p.superseded IS NULL OR EXISTS (
				SELECT FROM revisions r WHERE r.revision >= p.since AND r.revision < p.superseded))`)
	p.none("violations", `SELECT count(*) FROM violations v WHERE v.until IS NOT NULL AND NOT EXISTS (
		SELECT FROM revisions r WHERE r.revision >= v.since AND r.revision < v.until)`)
	p.none("contents", `SELECT count(*) FROM contents WHERE digest NOT IN (SELECT content FROM documents)`)
	p.none("blocks of texts", `SELECT count(*) FROM texts t WHERE NOT EXISTS (SELECT FROM documents WHERE text / 32 = t.block)`)
	p.none("occupancies", `SELECT count(*) FROM occupancies o WHERE NOT EXISTS (SELECT FROM revisions r
		WHERE r.revision >= o.since AND r.revision < coalesce(o.until, r.revision + 1))`)
	p.none("checks", `SELECT (SELECT count(*) FROM checks) - (SELECT count(*) FROM (
		SELECT d.content, f.rule FROM entries f JOIN documents d ON d.id = f.document WHERE f.rule IS NOT NULL
		UNION SELECT d.content, v.rule FROM violations v JOIN documents d ON d.id = v.document) f)`)
}

// act does something at random.
func (p *pruner) act(t *rapid.T) {
	ctx := context.Background()
	left := slices.Sorted(maps.Keys(p.views))
	if len(left) == 0 {
		p.put("a", widget("ap", 0))
		return
	}
	revision := rapid.SampledFrom(left).Draw(t, "revision")
	switch rapid.SampledFrom([]string{"put", "put", "put", "policy", "schema", "rollback", "tag"}).Draw(t, "act") {
	case "put":
		bucket := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "bucket")
		p.put(bucket, drawBody(t, bucket))
	case "policy":
		layer := rapid.SampledFrom([]string{"", "site", "other"}).Draw(t, "layers")
		if layer != "" {
			layer = control("deckhand/LayeringPolicy/v1", "lp", "{layerOrder: ["+layer+"]}")
		}
		p.put("policies", layer)
	case "schema":
		p.put("schemas", rapid.SampledFrom([]string{"", widgetSchema}).Draw(t, "schema"))
	case "rollback":
		p.wrote(p.site.Rollback(ctx, revision, revisions.Options{}))
	case "tag":
		var err error
		if p.tags[revision] {
			err = p.site.Untag(ctx, revision, revisions.Options{}, "good")
		} else {
			_, err = p.site.Tag(ctx, revision, revisions.Options{}, "good", nil)
		}
		if err != nil {
			p.Fatalf("tag: %v", err)
		}
		p.tags[revision] = !p.tags[revision]
	}
}

func drawBody(t *rapid.T, bucket string) string {
	var body strings.Builder
	for _, name := range []string{"p", "q"} {
		if x := rapid.IntRange(-1, 2).Draw(t, name); x >= 0 {
			body.WriteString(widget(bucket+name, x))
			if rapid.IntRange(0, 3).Draw(t, "comment") == 0 {
				fmt.Fprintf(&body, "# %d\n", rapid.IntRange(0, 2).Draw(t, "words"))
			}
		}
	}
	return body.String()
}

// Whatever happens between the steps of a prune, even another prune, and wherever it is killed, the remaining revisions
// are unchanged, and the next prune leaves no unneeded data.
func TestStore_Prune_steps(t *testing.T) {
	t.Parallel()
	all := newPruner(t)
	rapid.Check(t, func(t *rapid.T) {
		p := all.begin(t)
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			p.act(t)
		}
		p.prune(rapid.IntRange(1, 4).Draw(t, "keep"), func(int) bool {
			switch rapid.IntRange(0, 9).Draw(t, "between") {
			case 0:
				return false
			case 1:
				keep := rapid.IntRange(1, 4).Draw(t, "keep of another")
				if _, err := p.store.Prune(context.Background(), keep, revisions.Options{}); err != nil {
					t.Fatalf("another prune: %v", err)
				}
				p.forget(keep)
			case 2, 3, 4, 5:
				p.act(t)
			}
			return true
		})
		p.settle(rapid.IntRange(1, 20).Draw(t, "keep at last"))
	})
}

// planned is a change that waits before it is appended.
type planned struct {
	change                func() (changes.Written, error)
	reached, resume, done chan struct{}

	written changes.Written
	err     error
}

func (p *pruner) planned(change func(s *changes.Service) (changes.Written, error)) *planned {
	c := &planned{reached: make(chan struct{}), resume: make(chan struct{}), done: make(chan struct{})}
	mine := &late{Store: p.store, Before: func() {
		close(c.reached)
		<-c.resume
	}}
	c.change = func() (changes.Written, error) { return change(changing(mine)) }
	return c
}

// plan begins the change and returns once it is about to be appended, or has failed.
func (c *planned) plan() {
	go func() {
		defer close(c.done)
		c.written, c.err = c.change()
	}()
	select {
	case <-c.reached:
	case <-c.done:
	}
}

// append ends the change.
func (c *planned) append() {
	close(c.resume)
	<-c.done
}

// laterStep returns a random one of the next steps, the last step in any case. All pairs of steps would take too long.
func laterStep(step, last int) int {
	if step == last {
		return last + 1
	}
	return min(last, step+1+rand.IntN(20))
}

// A change that is planned before any step of a prune, and appended after any later one, has all that it needs once the
// prune has ended: contents and outcomes of checks that came back with it. A rollback to a pruned revision is refused.
func TestStore_Prune_changesBetween(t *testing.T) {
	t.Parallel()
	all := newPruner(t)
	back := func(revision int64) func(*changes.Service) (changes.Written, error) {
		return func(s *changes.Service) (changes.Written, error) {
			return s.Rollback(t.Context(), revision, revisions.Options{})
		}
	}
	for _, c := range []struct {
		name   string
		change func(s *changes.Service) (changes.Written, error)
		gone   bool
	}{
		{"an old content", func(s *changes.Service) (changes.Written, error) {
			return s.Put(t.Context(), "a", []byte(widget("w", 1)), document.YAML, revisions.Options{})
		}, false},
		{"a rollback", back(2), true},
		{"a rollback to what stays", back(3), false},
	} {
		steps := 1
		for planned := 0; planned <= steps; planned++ {
			for appended := max(1, planned); appended <= steps; appended = laterStep(appended, steps) {
				p := all.begin(t)
				p.put("schemas", widgetSchema)
				for x := range 3 {
					p.put("a", widget("w", x+1))
				}
				change := p.planned(c.change)
				if planned == 0 {
					change.plan()
				}
				steps = p.prune(2, func(step int) bool {
					if step == planned {
						change.plan()
					}
					if step == appended {
						change.append()
					}
					return true
				})
				if c.gone != (fault.KindOf(change.err) == fault.Gone) {
					t.Errorf("%s, planned after step %d and appended after step %d of %d: %v", c.name, planned, appended, steps,
						change.err)
				}
				if !c.gone {
					p.wrote(change.written, change.err)
				}
				p.settle(100)
			}
		}
	}
}

// A purge between steps ends the prune of the revisions before it.
func TestStore_Prune_purged(t *testing.T) {
	t.Parallel()
	all := newPruner(t)
	for after, steps := 1, 1; after <= steps; after++ {
		p := all.begin(t)
		fill := func() {
			p.put("schemas", widgetSchema)
			for x := range 3 {
				p.put("a", widget("w", x))
			}
		}
		fill()
		steps = p.prune(1, func(step int) bool {
			if step == after {
				p = p.begin(t)
				fill()
			}
			return true
		})
		p.settle(100)
	}
}

// A prune that is killed after any step leaves a consistent site, and a second prune completes it.
func TestStore_Prune_killed(t *testing.T) {
	t.Parallel()
	all := newPruner(t)
	for last, steps := 1, 1; last <= steps; last++ {
		p := all.begin(t)
		p.put("schemas", widgetSchema)
		for x := range 4 {
			p.put("a", widget("w", x)+widget("v", x/2))
			p.put("b", widget("u", x))
		}
		if last == 1 { // how many there are
			steps = p.prune(1, func(int) bool { return true })
			continue
		}
		p.prune(2, func(step int) bool { return step < last })
		p.check()
		p.settle(2)
	}
}

// While it holds the site's counters, a step deletes a few hundred rows at most, whatever there is to delete.
func TestStore_Prune_locked(t *testing.T) {
	t.Parallel()
	p := newPruner(t).begin(t)
	const rounds, documents = 3, 1100 // more than one step deletes
	p.put("schemas", widgetSchema)
	for round := range rounds {
		var body strings.Builder
		for i := range documents {
			body.WriteString(widget(fmt.Sprintf("w%d", i), round*documents+i))
		}
		put(t, p.site, "a", body.String())
	}
	most, sum := 0, 0
	p.pruning.AfterStep(func(locked int) error {
		most, sum = max(most, locked), sum+locked
		return nil
	})
	pruned, err := p.pruning.Prune(t.Context(), 1, revisions.Options{})
	const gone = (rounds - 1) * documents
	if err != nil || pruned.Documents != gone || pruned.Contents != gone || len(pruned.Revisions) != rounds {
		t.Errorf("pruned %+v, %v", pruned, err)
	}
	if most > store.MaxLocked || sum < 2*gone {
		t.Errorf("deleted at most %d rows in a step with the lock, %d in all", most, sum)
	}
}

// A dry run neither waits for others nor makes them wait.
func TestStore_Prune_dryRun(t *testing.T) {
	t.Parallel()
	p := newPruner(t).begin(t)
	for x := range 3 {
		p.put("a", widget("w", x))
	}
	tx, err := p.conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), "SELECT FROM sites, revisions FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	pruned, err := p.pruning.Prune(t.Context(), 1, revisions.Options{DryRun: true})
	if err != nil || len(pruned.Revisions) != 2 || pruned.Remaining != 1 || pruned.Documents != 2 {
		t.Errorf("a dry run: %+v, %v", pruned, err)
	}
}

// A tag set before the prune keeps its revision, and one set after it finds none. Revisions that have become prunable
// while the prune waited are deleted too.
func TestStore_Prune_tagged(t *testing.T) {
	t.Parallel()
	all := newPruner(t)
	for _, c := range []struct {
		commit bool
		want   []int64
	}{{true, []int64{2, 3}}, {false, []int64{1, 2, 3}}} {
		p := all.begin(t)
		for x := range 3 {
			p.put("a", widget("w", x))
		}
		tx, err := p.conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "INSERT INTO tags VALUES ('default', 1, 'good', '{}')"); err != nil {
			t.Fatal(err)
		}
		var pruned revisions.Pruned
		var group sync.WaitGroup
		group.Go(func() { pruned, err = p.pruning.Prune(context.Background(), 1, revisions.Options{}) })
		storetest.Waiting(t, p.watching, 1)
		p.put("a", widget("w", 4))
		end := tx.Rollback
		if c.commit {
			end = tx.Commit
		}
		if err := end(t.Context()); err != nil {
			t.Fatal(err)
		}
		if group.Wait(); err != nil || !slices.Equal(pruned.Revisions, c.want) {
			t.Errorf("pruned %+v, %v, want %v", pruned, err, c.want)
		}
		if _, err := p.site.Tag(t.Context(), 2, revisions.Options{}, "good", nil); fault.KindOf(err) != fault.Gone {
			t.Errorf("a tag that came later: %v", err)
		}
	}
}

// A prune and a purge wait for those who tag revisions, and are not aborted by them. A prune keeps the revisions whose
// tags were acknowledged before it.
func TestStore_Prune_whileTagging(t *testing.T) {
	t.Parallel()
	all := newPruner(t)
	for name, remove := range map[string]func(p *pruner) ([]int64, error){
		"prune": func(p *pruner) ([]int64, error) {
			pruned, err := p.pruning.Prune(context.Background(), 1, revisions.Options{})
			return pruned.Revisions, err
		},
		"purge": func(p *pruner) ([]int64, error) {
			return nil, p.pruning.Purge(context.Background(), revisions.Options{})
		},
	} {
		p := all.begin(t)
		stop := p.tag(1500)
		gone, err := remove(p)
		tagged := stop()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, revision := range gone {
			if tagged[revision] {
				t.Errorf("revision %d was tagged, and is deleted", revision)
			}
		}
	}
}

// tag makes revisions, and has clients tag them until stop is called, which returns those that have a tag.
func (p *pruner) tag(count int) (stop func() map[int64]bool) {
	p.put("a", widget("w", 1))
	if _, err := p.conn.Exec(context.Background(), fmt.Sprintf(`INSERT INTO revisions (site, revision, created_at,
			buckets, entries, outside, kind, author, message, stamp, succeeded)
		SELECT site, n, created_at, buckets, entries, outside, kind, author, message, stamp + n, succeeded
		FROM revisions, generate_series(2, %d) n; UPDATE sites SET head = %[1]d`, count)); err != nil {
		p.Fatalf("make revisions: %v", err)
	}
	const clients = 3
	var group, begun sync.WaitGroup
	begun.Add(clients)
	ctx, cancel := context.WithCancel(context.Background())
	var tagged sync.Map
	for range clients {
		group.Go(func() {
			for n, revision := range rand.Perm(count) {
				if _, err := p.site.Tag(ctx, int64(revision+1), revisions.Options{}, "good", nil); err == nil {
					tagged.Store(int64(revision+1), true)
				}
				if n == 0 {
					begun.Done()
				}
			}
		})
	}
	begun.Wait()
	return func() map[int64]bool {
		cancel()
		group.Wait()
		all := map[int64]bool{}
		tagged.Range(func(revision, _ any) bool { all[revision.(int64)] = true; return true })
		return all
	}
}

// Prunes and purges that wait leave the connections to others.
func TestStore_Prune_connections(t *testing.T) {
	t.Parallel()
	p := newPruner(t).begin(t)
	p.put("a", widget("w", 1))
	p.put("a", widget("w", 2))
	tx, err := p.conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM sites FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 30 {
		group.Go(func() {
			var err error
			if i%10 == 9 {
				err = p.pruning.Purge(context.Background(), revisions.Options{Expected: revisions.Expected{{Revision: 7}}})
			} else {
				_, err = p.pruning.Prune(context.Background(), 1, revisions.Options{})
			}
			if err != nil && fault.KindOf(err) != fault.Stale {
				t.Error(err)
			}
		})
	}
	storetest.Waiting(t, p.watching, 1)
	if _, err := p.pruning.Latest(t.Context()); err != nil {
		t.Error(err)
	}
	if n := p.pruning.Stat().AcquiredConns(); n != 1 {
		t.Errorf("%d connections are in use, want 1", n)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	group.Wait()
}

// A user who may not store encrypted documents cannot delete a version of one, neither by prune nor by purge.
func TestStore_Prune_encrypted(t *testing.T) {
	t.Parallel()
	all := newPruner(t)
	cleartext := revisions.Options{CleartextOnly: true}
	for _, c := range []struct {
		name          string
		bodies        []string // of bucket a, one after the other
		keep          int
		prune, purged string // the faults of pruning and of purging; "": there is none
	}{
		{"nothing is encrypted", []string{widget("w", 1), widget("w", 2)}, 1, "", ""},
		{"what stays is", []string{widget("w", 1) + widget("pw", 1), widget("w", 2) + widget("pw", 1)}, 1, "", "pw is encrypted: only"},
		{"an old version is", []string{widget("pw", 1), widget("pw", 2)}, 1, "pw is encrypted: only", "pw is encrypted: only"},
		{"one that is gone is", []string{widget("pw", 1), "", ""}, 1, "pw is encrypted: only", "pw is encrypted: only"},
		{
			"two are, and several versions",
			[]string{widget("pw", 1) + widget("pw2", 1), widget("pw", 2), widget("w", 1)},
			1,
			"pw is encrypted, like 1 more: only", "pw is encrypted, like 1 more: only",
		},
		{"one that a kept revision has", []string{widget("pw", 1), widget("pw", 1) + widget("w", 1), widget("w", 2)}, 2, "", "pw is encrypted: only"},
	} {
		p := all.begin(t)
		for _, body := range c.bodies {
			p.put("a", body)
		}
		if _, err := p.conn.Exec(t.Context(), "UPDATE documents SET encrypted = true WHERE name LIKE 'pw%'"); err != nil {
			t.Fatal(err)
		}
		before := p.rows()
		for _, dryRun := range []bool{true, false} {
			cleartext.DryRun = dryRun
			_, err := p.pruning.Prune(t.Context(), c.keep, cleartext)
			if !isForbidden(err, c.prune) {
				t.Errorf("%s: a prune, dry run %v: %v", c.name, dryRun, err)
			}
			if now := p.rows(); (dryRun || c.prune != "") && now != before {
				t.Errorf("%s: %s is left of %s", c.name, now, before)
			}
		}
		cleartext.DryRun, before = false, p.rows()
		if err := p.pruning.Purge(t.Context(), cleartext); !isForbidden(err, c.purged) {
			t.Errorf("%s: a purge: %v", c.name, err)
		}
		if now := p.rows(); c.purged != "" && now != before {
			t.Errorf("%s: %s is left of %s", c.name, now, before)
		}
		if _, err := p.pruning.Prune(t.Context(), c.keep, revisions.Options{}); err != nil {
			t.Errorf("%s: a prune of somebody who may: %v", c.name, err)
		}
	}
}

// rows counts the rows that prunes delete.
func (p *pruner) rows() (counts string) {
	p.Helper()
	err := p.conn.QueryRow(context.Background(), `SELECT concat((SELECT count(*) FROM revisions), ' revisions, ',
		(SELECT count(*) FROM documents), ' versions, ', (SELECT count(*) FROM contents), ' contents, ',
		(SELECT epoch FROM sites), '. epoch')`).Scan(&counts)
	if err != nil {
		p.Fatalf("count: %v", err)
	}
	return counts
}

// isForbidden reports whether an error is a fault that tells this; none if it tells nothing.
func isForbidden(err error, tells string) bool {
	if tells == "" {
		return err == nil
	}
	return fault.KindOf(err) == fault.Forbidden && strings.Contains(err.Error(), tells)
}

// Documents uploaded or untagged after a prune or purge has searched for encrypted documents, while it waits for
// others, are not deleted unchecked.
func TestStore_Prune_encryptedMeanwhile(t *testing.T) {
	t.Parallel()
	all := newPruner(t)
	cleartext := revisions.Options{CleartextOnly: true}
	prune := func(p *pruner) (err error) {
		_, err = p.pruning.Prune(context.Background(), 1, cleartext)
		return err
	}
	purge := func(p *pruner) error { return p.pruning.Purge(context.Background(), cleartext) }
	for _, c := range []struct {
		name              string
		delete            func(p *pruner) error
		before, meanwhile string // actions of others
		want              string // the fault; "": there is none
		left              int    // revisions
	}{
		{
			"a prune, and a revision that loses its tag", prune,
			"INSERT INTO tags VALUES ('default', 1, 'good', '{}'); UPDATE documents SET encrypted = true WHERE since = 1",
			"DELETE FROM tags", "", 2,
		},
		{
			"a purge, and an upload", purge, "", `UPDATE documents SET id = 101, place = 101, encrypted = true WHERE until IS NULL;
				UPDATE sites SET documents = 101, stamp = stamp + 1`, "w is encrypted: only", 3,
		},
		{
			"a purge, and another one with an upload after it", purge, "", `UPDATE sites SET epoch = epoch + 1;
				UPDATE documents SET encrypted = true WHERE until IS NULL`, "w is encrypted: only", 3,
		},
		{"a purge, and nothing encrypted", purge, "", "UPDATE sites SET stamp = stamp + 1", "", 0},
	} {
		p := all.begin(t)
		for x := range 3 {
			p.put("a", widget("w", x))
		}
		if _, err := p.conn.Exec(t.Context(), c.before); err != nil {
			t.Fatal(err)
		}
		tx, err := p.conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "SELECT FROM sites FOR UPDATE"); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		var refused error
		group.Go(func() { refused = c.delete(p) })
		storetest.Waiting(t, p.watching, 1)
		if _, err := tx.Exec(t.Context(), c.meanwhile); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if group.Wait(); !isForbidden(refused, c.want) {
			t.Errorf("%s: %v", c.name, refused)
		}
		if n := strings.Fields(p.rows())[0]; n != strconv.Itoa(c.left) {
			t.Errorf("%s: %s revisions are left, want %d", c.name, n, c.left)
		}
	}
}
