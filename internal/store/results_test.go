package store_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/feed"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// Evidence about the revision with a name is that about its number, whatever another server does since it was read.
func TestStore_EvidenceOf(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, other := openStore(t, url, defaults()), openStore(t, url, defaults())
	site, change := open(t, url), changing(other)
	tag, absent := "good", "bad"
	names := map[string]queries.Name{
		"latest": {}, "1": {Number: 1}, "2": {Number: 2}, "3": {Number: 3}, "tag": {ByTag: true, Tag: tag}, "no tag": {ByTag: true, Tag: absent},
	}
	policy := func(name string) string {
		return control("deckhand/ValidationPolicy/v1", "p", fmt.Sprintf("{validations: [{name: %s}]}", name))
	}
	post := func(revision int64, name, status string) {
		result := validations.Result{Name: name, Status: status, Validator: []byte("{}"), Errors: []byte(`[{"message":"m"}]`)}
		if stamp, _, err := other.AddResult(t.Context(), revisions.About{Revision: revision}, result); err != nil || stamp == 0 {
			t.Fatal(stamp, err)
		}
	}
	setTag := func(revision int64) {
		if found, err := other.Tag(t.Context(), revisions.About{Revision: revision}, revisions.Tag{Name: tag, Data: []byte("{}")}); err != nil ||
			!found {
			t.Fatal(found, err)
		}
	}
	conn := storetest.Connect(t, url)
	exec := func(sql string) {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name   string
		do     func()
		number map[string]int64 // the revisions that the names mean
	}{
		{"empty", func() {}, map[string]int64{}},
		{"first", func() { put(t, site, "a", widget("w", 1)) }, map[string]int64{"latest": 1, "1": 1}},
		{"policy", func() { put(t, site, "p", policy("x-validation")) }, map[string]int64{"latest": 2, "1": 1, "2": 2}},
		{"results", func() {
			post(2, "x-validation", "failure")
			post(2, "y-validation", "success")
			post(1, "x-validation", "success")
		}, map[string]int64{"latest": 2, "1": 1, "2": 2}},
		{"newer results", func() {
			post(2, "x-validation", "success")
			post(2, "y-validation", "failure")
			post(2, "x-validation", "failure")
		}, map[string]int64{"latest": 2, "1": 1, "2": 2}},
		{"database set back, and as many other results", func() {
			exec(`DELETE FROM results WHERE id IN (SELECT id FROM results WHERE revision = 2 ORDER BY id DESC LIMIT 2);
				DELETE FROM events e USING feeds f WHERE e.number > f.newest - 2;
				UPDATE feeds SET newest = newest - 2`)
			post(2, "x-validation", "success")
			post(1, "y-validation", "success")
		}, map[string]int64{"latest": 2, "1": 1, "2": 2}},
		{"tag", func() { setTag(2) }, map[string]int64{"latest": 2, "1": 1, "2": 2, "tag": 2}},
		{"tag of an older one", func() {
			if _, err := other.Untag(t.Context(), revisions.About{Revision: 2}); err != nil {
				t.Fatal(err)
			}
			setTag(1)
		}, map[string]int64{"latest": 2, "1": 1, "2": 2, "tag": 1}},
		{"other policy", func() {
			put(t, site, "p", policy("z-validation"))
			post(2, "x-validation", "success")
			setTag(2)
			if _, err := other.Untag(t.Context(), revisions.About{Revision: 1}); err != nil {
				t.Fatal(err)
			}
		}, map[string]int64{"latest": 3, "1": 1, "2": 2, "3": 3, "tag": 2}},
		{"prune", func() {
			if _, err := change.Prune(t.Context(), 1, revisions.Options{}); err != nil {
				t.Fatal(err)
			}
		}, map[string]int64{"latest": 3, "2": 2, "3": 3, "tag": 2}}, // a tag keeps its revision
		{"purge, and the numbers again", func() {
			if err := change.Purge(t.Context(), revisions.Options{}); err != nil {
				t.Fatal(err)
			}
			put(t, site, "p", policy("w-validation"))
			put(t, site, "p", "")
		}, map[string]int64{"latest": 2, "1": 1, "2": 2}},
	} {
		step.do()
		check := func(when string) {
			for name, asked := range names {
				var numbers []int64
				if number := max(step.number[name], asked.Number); number != 0 {
					numbers = []int64{number}
				}
				want, err := other.Evidence(t.Context(), numbers)
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.EvidenceOf(t.Context(), asked)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(queries.Evidence{}, "Now"), cmpopts.EquateEmpty(),
					cmpopts.IgnoreUnexported(validations.Requirement{})); diff != "" {
					t.Errorf("%s: %s, %s (-want +got)\n%s", step.name, name, when, diff)
				}
			}
		}
		check("while events wait to be numbered")
		if _, _, err := other.Number(t.Context(), func(feed.Batch) feed.Derived { return feed.Derived{} }); err != nil {
			t.Fatal(err)
		}
		check("after they were numbered")
		check("again")
	}
}

// Who reads evidence while events wait has them numbered: the server that made the changes may have ended.
func TestStore_EvidenceOf_waiting(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, other := openStore(t, url, defaults()), openStore(t, url, defaults())
	put(t, open(t, url), "a", widget("w", 1))
	woken := func() bool {
		select {
		case <-s.Committed():
			return true
		default:
			return false
		}
	}
	number := func() {
		_, _, err := other.Number(t.Context(), func(feed.Batch) feed.Derived { return feed.Derived{} })
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name string
		do   func()
		want bool
	}{
		{"events wait", func() {}, true},
		{"all are numbered", number, false},
		{"evidence is known", func() {}, false},
		{"another server tags", func() {
			tag := revisions.Tag{Name: "t", Data: []byte("{}")}
			if found, err := other.Tag(t.Context(), revisions.About{Revision: 1}, tag); err != nil || !found {
				t.Fatal(found, err)
			}
		}, true},
	} {
		step.do()
		if _, err := s.EvidenceOf(t.Context(), queries.Name{}); err != nil {
			t.Fatal(err)
		}
		if got := woken(); got != step.want {
			t.Errorf("%s: the feed is woken: %v, want %v", step.name, got, step.want)
		}
	}
}

// Evidence is as of now, by the database's clock, also where the rest is known.
func TestStore_EvidenceOf_now(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openStore(t, url, defaults())
	put(t, open(t, url), "a", widget("w", 1))
	var last time.Time
	for range 3 {
		got, err := s.EvidenceOf(t.Context(), queries.Name{})
		if err != nil {
			t.Fatal(err)
		}
		if !got.Now.After(last) || got.Now.Before(got.Revisions[0].CreatedAt) {
			t.Errorf("now is %v, after %v", got.Now, last)
		}
		last = got.Now
	}
}

// A verdict that was asked for before takes one round trip, whatever the name.
func TestStore_EvidenceOf_roundTrips(t *testing.T) {
	t.Parallel()
	direct := storetest.URL(t)
	p, through := storetest.StartProxy(t, direct)
	s := openStore(t, through, store.Options{Deadlines: store.DefaultDeadlines()})
	site := open(t, direct)
	put(t, site, "p", control("deckhand/ValidationPolicy/v1", "p", "{validations: [{name: x-validation}]}"))
	tag := "t"
	if _, err := s.Tag(t.Context(), revisions.About{Revision: 1}, revisions.Tag{Name: tag, Data: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	for i, posted := range []string{"", "x-validation", "y-validation", "x-validation", "x-validation"} {
		if posted != "" {
			result := validations.Result{Name: posted, Status: "success", Validator: []byte("{}"), Errors: []byte("[]")}
			if _, _, err := s.AddResult(t.Context(), revisions.About{Revision: 1}, result); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []queries.Name{{}, {Number: 1}, {ByTag: true, Tag: tag}} {
			trips := p.During(func() {
				if _, err := s.EvidenceOf(t.Context(), name); err != nil {
					t.Fatal(err)
				}
			})
			if i > 0 && trips != 1 { // the first time the statements are prepared, and the policy read
				t.Errorf("%+v after %d results: %d round trips", name, i, trips)
			}
		}
	}
}

// A rollback takes over the newest result of each name, and makes its own of the server's validations.
func TestService_Rollback_results(t *testing.T) {
	t.Parallel()
	s := openStore(t, storetest.URL(t), defaults())
	change := changing(s)
	fill := func(bucket, body string) {
		if _, err := change.Put(t.Context(), bucket, []byte(body), document.YAML, revisions.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	post := func(revision int64, name, status, errors string) {
		result := validations.Result{Name: name, Status: status, Validator: []byte("{}"), Errors: []byte(errors)}
		if _, _, err := s.AddResult(t.Context(), revisions.About{Revision: revision}, result); err != nil {
			t.Fatal(err)
		}
	}
	rollback := func(target int64) {
		if _, err := change.Rollback(t.Context(), target, revisions.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	own := validations.PolicyValidation
	fill("p", control("deckhand/ValidationPolicy/v1", "p", "{validations: [{name: "+own+"}]}"))
	fill("w", widget("w", 1))
	post(1, "x-validation", "success", "[]")
	post(1, "y-validation", "success", "[]")
	post(1, "x-validation", "failure", `[{"message":"m"}]`)
	rollback(1)
	rollback(2)
	post(3, "y-validation", "failure", "[]")
	rollback(3)
	for revision, want := range map[int64][]string{
		1: {own + " of 0", "x-validation success [] of 0", "y-validation success [] of 0", `x-validation failure [{"message":"m"}] of 0`},
		3: {own + " of 0", "y-validation success [] of 1", `x-validation failure [{"message":"m"}] of 1`, "y-validation failure [] of 0"},
		4: {own + " of 0"},
		5: {own + " of 0", `x-validation failure [{"message":"m"}] of 1`, "y-validation failure [] of 3"},
	} {
		found, err := s.Evidence(t.Context(), []int64{revision, revision})
		if err != nil || len(found.Revisions) != 1 {
			t.Fatalf("%d revisions, error %v, want one that was asked for twice", len(found.Revisions), err)
		}
		of := found.Revisions[0]
		reported, err := s.Reported(t.Context(), of, "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		names := map[string]bool{}
		for _, r := range reported {
			names[r.Name] = true
			if r.Name == own {
				got = append(got, fmt.Sprintf("%s of %d", r.Name, r.CarriedFrom))
				continue
			}
			errors, err := s.ResultTexts(t.Context(), of, []int64{r.ID})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %s %s of %d", r.Name, r.Status, errors[r.ID].Errors, r.CarriedFrom))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("results of revision %d (-want +got)\n%s", revision, diff)
		}
		if n := len(found.Known[revision].Outcomes); n != len(names) {
			t.Errorf("revision %d is judged by %d outcomes, want %d", revision, n, len(names))
		}
	}
}

// A result whose message has a NUL character is stored, although Postgres accepts none in a text: a posted one, and one of
// the server's own validations.
func TestStore_AddResult_nul(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, site := openStore(t, url, defaults()), open(t, url)
	put(t, site, "a", widget("w", 1))
	posted := validations.Result{
		Name: "x-validation", Status: "failure", Validator: []byte("{}"), Errors: []byte(`[{"message":"a\u0000b"}]`),
	}
	if _, _, err := s.AddResult(t.Context(), revisions.About{Revision: 1}, posted); err != nil {
		t.Fatal(err)
	}
	put(t, site, "p", control("deckhand/ValidationPolicy/v1", "p", `{validations: [{name: x-validation}]}`)+
		control("deckhand/DataSchema/v1", "acme/Widget/v1", `{property_groups: {"a\0": {}}}`))
	found, err := s.Evidence(t.Context(), []int64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	want := validations.Outcome{Name: "x-validation", Status: validations.Failure, Message: "a\uFFFDb"}
	outcomes := found.Known[1].Outcomes
	got := outcomes[slices.IndexFunc(outcomes, func(o validations.Outcome) bool { return o.Name == want.Name })]
	if got.At, got.Validator = (time.Time{}), ""; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Outcomes have their validators if these are asked for, whatever was asked before.
func TestStore_EvidenceOf_validators(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openStore(t, url, defaults())
	put(t, open(t, url), "a", widget("w", 1))
	const validator = `{"name":"lint","version":"1"}`
	posted := validations.Result{Name: "x-validation", Status: "success", Validator: []byte(validator), Errors: []byte("[]")}
	if _, _, err := s.AddResult(t.Context(), revisions.About{Revision: 1}, posted); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Number(t.Context(), func(feed.Batch) feed.Derived { return feed.Derived{} }); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for name, want := range map[queries.Name]string{{Number: 1}: "", {Number: 1, Validators: true}: validator} {
			found, err := s.EvidenceOf(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			for _, outcome := range found.Known[1].Outcomes {
				if outcome.Name == posted.Name && outcome.Validator != want {
					t.Errorf("%+v: the validator is %q, want %q", name, outcome.Validator, want)
				}
			}
		}
	}
}

// The worst result of each name costs the same however many results there are, also with a plan from when there were
// none.
func TestStore_WorstResults(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := openStore(t, url, defaults()), storetest.Connect(t, url)
	put(t, open(t, url), "a", widget("w", 1))
	exec := func(sql string, args ...any) {
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	const post = `INSERT INTO results (site, revision, name, status, validator, errors, created_at)
		SELECT 'default', 1, 'v-' || i % 10, CASE WHEN i = 3 THEN 'failure' ELSE 'success' END, '{}', '[]', now()
		FROM generate_series(1, $1::bigint) i`
	exec("SET plan_cache_mode = force_generic_plan")
	exec(store.Prepare("worst", store.Statements.WorstResults))
	worst := store.Execute("worst", store.Statements.WorstResults, map[string]string{"site": "'default'", "revision": "1"})
	pages := func() int { return pagesRead(t, conn, worst) }
	exec("INSERT INTO reported (site, revision, name) SELECT 'default', 1, 'v-' || i FROM generate_series(0, 9) i")
	exec(post, 10)
	few := pages()
	exec(post, 20_000)
	if many := pages(); many > 3*few {
		t.Errorf("%d pages read of 20,000 results, %d of 10", many, few)
	}
	got, err := s.WorstResults(t.Context(), revisions.Revision{ID: 1})
	if err == nil {
		t.Fatalf("worst %v of a revision with another stamp", got)
	}
	found, err := s.EvidenceOf(t.Context(), queries.Name{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err = s.WorstResults(t.Context(), found.Revisions[0]); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for i := range 10 {
		want[fmt.Sprintf("v-%d", i)] = "success"
	}
	want["v-3"] = "failure"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("worst (-want +got)\n%s", diff)
	}
}

// Of results that come at the same time, each is added to its own revision, in their order, or not at all.
func TestStore_AddResult_together(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openStore(t, url, defaults())
	first := put(t, open(t, url), "a", widget("w", 1))
	put(t, open(t, url), "a", widget("w", 2))
	audit := &revisions.AuditEvent{At: time.Now(), UserID: "u", Method: "POST", Target: "/x", Status: 201}
	about := []revisions.About{
		{Revision: 1, Audit: audit},
		{Revision: 2},
		{Revision: 9},
		{Revision: 1, Stamps: []revisions.Stamp{1, first.Stamp}, Audit: audit},
		{Revision: 1, Stamps: []revisions.Stamp{1}, Audit: audit},
		{Revision: 1, Stamps: []revisions.Stamp{}},
	}
	results := make([]validations.Result, len(about))
	for i := range results {
		results[i] = validations.Result{
			Name: fmt.Sprintf("v%d", i%2), Status: "failure", Validator: []byte(`{"name":"\u00e9 \"x\""}`),
			Errors: fmt.Appendf(nil, `[{"message":"%d"}]`, i),
		}
	}
	check := func(want []bool, bad int) {
		t.Helper()
		stamps, errs, err := s.AddResults(t.Context(), about, results)
		if err != nil {
			t.Fatal(err)
		}
		for i := range stamps {
			if added := stamps[i] != 0; added != want[i] || (errs[i] != nil) != (i == bad) {
				t.Errorf("result %d: added %v, error %v", i, added, errs[i])
			}
		}
	}
	conn := storetest.Connect(t, url)
	lines := func(sql string) (lines []string) {
		rows, _ := conn.Query(t.Context(), sql) // its error is that of the rows
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	all := func() []string {
		return slices.Concat(
			lines(`SELECT concat_ws(' ', revision, name, status, validator, errors, message) FROM results ORDER BY id`),
			lines(`SELECT concat_ws(' ', revision, name) FROM reported ORDER BY revision, name`),
			lines(`SELECT concat_ws(' ', subject, data::json ->> 'validator') FROM outbox WHERE type = 'purser.validation.posted'
				ORDER BY id`),
			lines(`SELECT concat_ws(' ', revision, user_id, method, target, status) FROM audit ORDER BY id`))
	}
	check([]bool{true, true, false, true, false, false}, -1)
	validator := `{"name":"\u00e9 \"x\""}`
	posted := []string{
		"1 v0 failure " + validator + ` [{"message":"0"}] 0`, "2 v1 failure " + validator + ` [{"message":"1"}] 1`,
		"1 v1 failure " + validator + ` [{"message":"3"}] 3`,
	}
	want := slices.Concat(posted, []string{"1 v0", "1 v1", "2 v1"}, []string{
		"revisions/1/validations/v0 " + validator, "revisions/2/validations/v1 " + validator,
		"revisions/1/validations/v1 " + validator,
	}, []string{"1 u POST /x 201", "1 u POST /x 201"})
	if diff := cmp.Diff(want, all()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}

	results[1].Name = "\x00" // which Postgres does not store
	check([]bool{true, false, false, true, false, false}, 1)
	if got := lines(`SELECT concat_ws(' ', revision, name, status, validator, errors, message) FROM results ORDER BY id`); !slices.Equal(
		got, append(posted, posted[0], posted[2])) {
		t.Errorf("results: %q", got)
	}
}

// Groups of results lock revisions and names in their order, as prunes and the groups of other servers do: otherwise
// they would wait for one another until the database ends one of them.
func TestStore_AddResult_order(t *testing.T) {
	t.Parallel()
	const names, last = 50, 9
	for what, sql := range map[string][2]string{
		"names": {
			`INSERT INTO reported (site, revision, name) SELECT site, 1, 'v10' FROM sites`,
			`INSERT INTO reported (site, revision, name) SELECT site, 1, 'v' || n FROM sites, generate_series(11, 59) n`,
		},
		"revisions": {`DELETE FROM revisions WHERE revision = 1`, `DELETE FROM revisions WHERE revision = 2`},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			url := storetest.URL(t)
			s := openStore(t, url, defaults())
			for i := range 3 {
				put(t, open(t, url), "a", widget("w", i))
			}
			var about []revisions.About
			var results []validations.Result
			for i := range names {
				revision := int64(1)
				if what == "revisions" {
					revision = int64(3 - i%3)
				}
				about = append(about, revisions.About{Revision: revision})
				results = append(results, validations.Result{
					Name: fmt.Sprintf("v%d", last+names-i), Status: "success", Validator: []byte("{}"), Errors: []byte("[]"),
				})
			}
			conn := storetest.Connect(t, url)
			run := func(sql string) {
				t.Helper()
				if _, err := conn.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			run(`SET deadlock_timeout = '1ms'`)
			run(`BEGIN`)
			run(sql[0])
			added := make(chan error, 1)
			go func() {
				_, _, err := s.AddResults(t.Context(), about, results)
				added <- err
			}()
			watch := storetest.Connect(t, url)
			for waits := false; !waits; {
				if err := watch.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
					WHERE NOT l.granted AND a.datname = current_database())`).Scan(&waits); err != nil {
					t.Fatal(err)
				}
			}
			run(sql[1])
			run(`COMMIT`)
			if err := <-added; err != nil {
				t.Error(err)
			}
		})
	}
}

// The evidence about a few revisions is read by index, also while there are few others or no statistics about them.
func TestStore_Evidence_byIndex(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	put(t, open(t, url), "a", widget("w", 1))
	conn := storetest.Connect(t, url)
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	exec("SET plan_cache_mode = force_generic_plan")
	exec(store.Prepare("revisions", store.Statements.RevisionsAbout))
	exec(store.Prepare("outcomes", store.Statements.OutcomesAbout))
	texts := map[string]string{"revisions": store.Statements.RevisionsAbout, "outcomes": store.Statements.OutcomesAbout}
	about := map[string]string{"site": "'default'", "numbers": "'{1,2,3,4,5,6,7,8,9,10}'", "tag": "NULL", "validators": "false"}
	exec(`INSERT INTO revisions SELECT (jsonb_populate_record(r, jsonb_build_object('revision', i))).*
		FROM revisions r, generate_series(2, 1000) i`)
	exec("INSERT INTO reported (site, revision, name) SELECT site, revision, 'v' FROM revisions")
	for _, analyze := range []string{"", "VACUUM ANALYZE revisions", "VACUUM ANALYZE reported"} {
		exec(analyze)
		for name, index := range map[string]string{"revisions": "revisions_pkey", "outcomes": "reported_pkey"} {
			rows, err := conn.Query(t.Context(), "EXPLAIN "+store.Execute(name, texts[name], about))
			if err != nil {
				t.Fatal(err)
			}
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(plan, "\n")
			if !regexp.MustCompile(`Index (Only )?Scan using ` + index + ` .*\n *Index Cond: .* AND \(revision = `).MatchString(text) {
				t.Errorf("%s, after %q:\n%s", name, analyze, text)
			}
		}
	}
}

// Statements that were planned while their tables were empty, as they are after a purge, read by index too. Connections
// of a server need nothing else for it.
func TestStore_Evidence_emptied(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	put(t, open(t, url), "a", widget("w", 1))
	config, err := store.PoolConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	held, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(held.Release)
	conn := held.Conn()
	all := store.Statements
	statements := map[string]string{
		"revisions": all.RevisionsAbout, "outcomes": all.OutcomesAbout, "worst": all.WorstResults,
		"reported": all.ReportedOf, "policies": all.PoliciesAbout,
	}
	arguments := map[string]string{
		"site": "'default'", "numbers": "'{1,2,3}'", "tag": "NULL", "revision": "1", "name": "''", "hidden": "'{}'", "validators": "true",
	}
	for _, sql := range []string{
		"CREATE TEMPORARY TABLE kept AS SELECT * FROM revisions", "DELETE FROM revisions",
		"VACUUM ANALYZE revisions", "VACUUM ANALYZE reported", "VACUUM ANALYZE results",
	} {
		storetest.Execute(t, conn, sql)
	}
	for name, sql := range statements {
		storetest.Execute(t, conn, store.Prepare(name, sql))
	}
	for name, sql := range statements { // which plans them
		storetest.Execute(t, conn, store.Execute(name, sql, arguments))
	}
	const many = 2000
	for _, sql := range []string{
		fmt.Sprintf(`INSERT INTO revisions SELECT (jsonb_populate_record(r, jsonb_build_object('revision', i))).*
			FROM kept r, generate_series(1, %d) i`, many),
		"INSERT INTO reported (site, revision, name) SELECT site, revision, 'v' FROM revisions",
		`INSERT INTO results (site, revision, name, status, validator, errors, created_at)
			SELECT site, revision, 'v', 'success', '{}', '[]', now() FROM revisions`,
	} {
		storetest.Execute(t, conn, sql)
	}
	for name, sql := range statements {
		if pages := pagesRead(t, conn, store.Execute(name, sql, arguments)); pages > 60 {
			t.Errorf("%s reads %d pages", name, pages)
		}
	}
}

// The sizes of results, by which pages end, do not tell whether there are warnings that depend on secrets.
func TestStore_Reported_hiddenWarnings(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openStore(t, url, defaults())
	revision := put(t, open(t, url), "a", widget("w", 1)).Revision
	found, err := s.Evidence(t.Context(), []int64{revision})
	if err != nil {
		t.Fatal(err)
	}
	warning := func(level string, secret bool) fault.Message {
		return fault.Message{Message: "a warning, é", Level: level, Kind: fault.WarningKind, Secret: secret}
	}
	number := 0
	add := func(result changes.RevisionResult) int {
		t.Helper()
		stored := result.Stored()
		number++
		stored.Name = fmt.Sprintf("%s%s-%d", validations.ReservedPrefix, stored.Name, number) // others have none
		if _, _, err := s.AddResult(t.Context(), revisions.About{Revision: revision}, stored); err != nil {
			t.Fatal(err)
		}
		reported, err := s.Reported(t.Context(), found.Revisions[0], stored.Name)
		if err != nil || len(reported) != 1 {
			t.Fatal(reported, err)
		}
		return reported[0].Size
	}
	var want, got []int
	for _, open := range []changes.RevisionResult{
		{Name: "none"},
		{Name: "a warning", Warnings: []fault.Message{warning("Warning", false)}},
		{Name: "a failure", Messages: []fault.Message{{Message: "it fails", Error: true}}},
		{Name: "a secret failure", Messages: []fault.Message{{Message: "it fails", Error: true, Secret: true}}},
	} {
		for _, level := range []string{"Warning", fault.Info} {
			hidden := open
			hidden.Warnings = append(slices.Clone(open.Warnings), warning(level, true))
			want, got = append(want, add(open)), append(got, add(hidden))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the sizes differ by secret warnings (-without +with)\n%s", diff)
	}
}
