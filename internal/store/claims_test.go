package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/claims"
	"purser/internal/fault"
	"purser/internal/feed"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/sites"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// requiring is a policy that requires validations of others.
func requiring(names ...string) string {
	return control("deckhand/ValidationPolicy/v1", "p", "{validations: [{name: "+strings.Join(names, "}, {name: ")+"}]}")
}

// numbering returns a function that numbers the events of a store, which opens work.
func numbering(t *testing.T, s *store.Store) func() {
	t.Helper()
	told := feed.New(feed.Config{
		Store: s.Database, Defaults: revisions.Defaults{validations.SchemaValidation}, Keep: time.Hour, MaxWaits: 1,
		Log: slog.New(slog.DiscardHandler),
	})
	return func() {
		if _, err := told.Of(sites.Default).NumberEvents(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// asking returns a worker's request.
func asking(worker string, names ...string) claims.Ask {
	return claims.Ask{Token: claims.NewToken(), Names: names, Worker: worker, Timeout: time.Minute}
}

// postFor posts a result for a claim, and returns the type of the fault.
func postFor(t *testing.T, s *store.Store, w claims.Work, token claims.Token) string {
	t.Helper()
	result := validations.Result{Name: w.Validation, Status: "success", Validator: []byte("{}"), Errors: []byte("[]")}
	_, _, err := s.AddResult(context.WithoutCancel(t.Context()),
		revisions.About{Revision: w.Revision, Claim: string(token)}, result)
	refused, isFault := errors.AsType[*fault.Fault](err)
	_, repeated := errors.AsType[*revisions.Repeated](err)
	switch {
	case isFault:
		return refused.Type
	case repeated:
		return "repeated"
	case err != nil:
		t.Error(err)
	}
	return ""
}

// Workers of two servers that claim, post and give back at the same time never hold the same work twice, and each piece
// of work gets one result.
func TestStore_Claim_races(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	stores := []*store.Store{openStore(t, url, defaults()), openStore(t, url, defaults())}
	const works, workers = 12, 10
	var names []string
	for i := range works {
		names = append(names, fmt.Sprintf("v%02d-validation", i))
	}
	put(t, open(t, url), "policy", requiring(names...))
	number := numbering(t, stores[0])
	number()
	var mu sync.Mutex
	holders, done := map[string]string{}, map[string]int{}
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range workers {
		group.Go(func() {
			s, worker := stores[i%len(stores)], fmt.Sprint("w", i)
			<-start
			for n := 0; ; n++ {
				granted, err := s.Claim(t.Context(), asking(worker, names...))
				if err != nil {
					t.Error(err)
					return
				}
				if !granted.Found {
					return
				}
				name := granted.Validation
				mu.Lock()
				if other := holders[name]; other != "" || done[name] > 0 {
					t.Errorf("%s claims %s, which %q holds and %d have done", worker, name, other, done[name])
				}
				holders[name] = worker
				mu.Unlock()
				mu.Lock()
				delete(holders, name)
				mu.Unlock()
				if (n+i)%3 == 0 { // it gives it back, and another one does it
					if err := s.GiveBack(t.Context(), granted.Token, nil); err != nil {
						t.Error(err)
					}
					continue
				}
				mu.Lock()
				done[name]++
				mu.Unlock()
				if refused := postFor(t, s, granted.Work, granted.Token); refused != "" {
					t.Errorf("the result of %s: %s", worker, refused)
				}
				if refused := postFor(t, s, granted.Work, granted.Token); refused != "repeated" {
					t.Errorf("the second result of %s: %q", worker, refused)
				}
			}
		})
	}
	close(start)
	group.Wait()
	conn := storetest.Connect(t, url)
	for _, name := range names {
		var results int
		err := conn.QueryRow(t.Context(), "SELECT count(*) FROM results WHERE name = $1 AND claim IS NOT NULL", name).
			Scan(&results)
		if err != nil || results != 1 || done[name] != 1 {
			t.Errorf("%s: %d results, done %d times, %v", name, results, done[name], err)
		}
	}
	number()
	if granted, err := stores[1].Claim(t.Context(), asking("w", names...)); err != nil || granted.Found {
		t.Errorf("after all: %+v, %v", granted, err)
	}
}

// When the claim of a killed worker runs out, one of many gets the work, and from then on the killed one is refused.
func TestStore_Claim_lapse(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	stores := []*store.Store{openStore(t, url, defaults()), openStore(t, url, defaults())}
	put(t, open(t, url), "policy", requiring("a-validation"))
	numbering(t, stores[0])()
	conn := storetest.Connect(t, url)
	killed, err := stores[0].Claim(t.Context(), asking("killed", "a-validation"))
	if err != nil || !killed.Found {
		t.Fatalf("%+v, %v", killed, err)
	}
	if none, err := stores[1].Claim(t.Context(), asking("w", "a-validation")); err != nil || none.Found || none.Next <= 0 ||
		none.Next > time.Minute+time.Second {
		t.Errorf("while it is held: %+v, %v", none, err)
	}
	storetest.Execute(t, conn, "UPDATE claims SET expires_at = now() - interval '1 second'")
	if _, err := stores[1].ExtendClaim(t.Context(), killed.Token, nil); err != nil {
		t.Errorf("the token decides, not the clock: %v", err)
	}
	storetest.Execute(t, conn, "UPDATE claims SET expires_at = now() - interval '1 second'")
	var found []claims.Granted
	var mu sync.Mutex
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			granted, err := stores[i%2].Claim(t.Context(), asking(fmt.Sprint("w", i), "a-validation"))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			} else if granted.Found {
				found = append(found, granted)
			}
		})
	}
	group.Wait()
	if len(found) != 1 || found[0].Attempt != 2 {
		t.Fatalf("%+v", found)
	}
	if refused := postFor(t, stores[0], killed.Work, killed.Token); refused != "ClaimLost" {
		t.Errorf("the result of the killed one: %q", refused)
	}
	for name, err := range map[string]error{
		"extend": func() error { _, err := stores[0].ExtendClaim(t.Context(), killed.Token, nil); return err }(),
		"give":   stores[0].GiveBack(t.Context(), killed.Token, nil),
	} {
		if lost, isFault := errors.AsType[*fault.Fault](err); !isFault || lost.Type != "ClaimLost" ||
			lost.Metadata["worker"] != found[0].Worker {
			t.Errorf("%s: %v", name, err)
		}
	}
	storetest.Execute(t, conn, "UPDATE claims SET since = now() - interval '25 hours'")
	if refused := postFor(t, stores[0], found[0].Work, found[0].Token); refused != "ClaimOver" {
		t.Errorf("a result after a day: %q", refused)
	}
	// A rewound database does not know the claims.
	storetest.Execute(t, conn, "DELETE FROM claims")
	if refused := postFor(t, stores[0], found[0].Work, found[0].Token); refused != "UnknownClaim" {
		t.Errorf("a result of a claim that is not known: %q", refused)
	}
}

// After three claims that ran out, the server posts one failure, and nobody gets the work until it is asked for.
func TestStore_Claim_abandoned(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	stores := []*store.Store{openStore(t, url, defaults()), openStore(t, url, defaults())}
	put(t, open(t, url), "policy", requiring("a-validation"))
	number := numbering(t, stores[0])
	number()
	conn := storetest.Connect(t, url)
	lapse := func() {
		storetest.Execute(t, conn, "UPDATE claims SET expires_at = now() - interval '1 second' WHERE held")
	}
	for i := range claims.MaxAttempts {
		granted, err := stores[i%2].Claim(t.Context(), asking(fmt.Sprint("w", i), "a-validation"))
		if err != nil || !granted.Found || granted.Attempt != i+1 {
			t.Fatalf("%d: %+v, %v", i, granted, err)
		}
		lapse()
	}
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			if granted, err := stores[i%2].Claim(t.Context(), asking("w", "a-validation")); err != nil || granted.Found {
				t.Errorf("%+v, %v", granted, err)
			}
		})
	}
	group.Wait()
	var results []string
	rows, err := conn.Query(t.Context(), "SELECT status || ' ' || message FROM results WHERE name = 'a-validation'")
	if err == nil {
		results, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil || len(results) != 1 || !strings.Contains(results[0], "3 claims") || !strings.Contains(results[0], "w2") {
		t.Errorf("results %q, %v", results, err)
	}
	number()
	if granted, err := stores[0].Claim(t.Context(), asking("w", "a-validation")); err != nil || granted.Found {
		t.Errorf("after the failure: %+v, %v", granted, err)
	}
	if _, exists, err := stores[0].Request(t.Context(), revisions.About{Revision: 1}, "a-validation", "again"); err != nil || !exists {
		t.Errorf("%v, %v", exists, err)
	}
	if granted, err := stores[0].Claim(t.Context(), asking("w", "a-validation")); err != nil || granted.Attempt != 1 {
		t.Errorf("after a request: %+v, %v", granted, err)
	}
}

// A result that expires opens its work again, for which earlier claims do not count.
func TestStore_Claim_expired(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := openStore(t, url, defaults()), storetest.Connect(t, url)
	put(t, open(t, url), "policy", control("deckhand/ValidationPolicy/v1", "p",
		"{validations: [{name: a-validation, expiresAfter: PT1H}]}"))
	number := numbering(t, s)
	number()
	first, err := s.Claim(t.Context(), asking("w", "a-validation"))
	if err != nil || postFor(t, s, first.Work, first.Token) != "" {
		t.Fatal(err)
	}
	number()
	if granted, err := s.Claim(t.Context(), asking("w", "a-validation")); err != nil || granted.Found || granted.Next > time.Hour+time.Second {
		t.Errorf("before it expires: %+v, %v", granted, err)
	}
	storetest.Execute(t, conn, "UPDATE results SET created_at = now() - interval '2 hours'")
	storetest.Execute(t, conn, "UPDATE claims SET ended_at = now() - interval '2 hours'")
	storetest.Execute(t, conn, "UPDATE verdicts SET due = now() - interval '1 hour'")
	if granted, err := s.Claim(t.Context(), asking("w", "a-validation")); err != nil || granted.Found || granted.Next > time.Second {
		t.Errorf("when it has expired but is not judged: %+v, %v", granted, err)
	}
	number()
	granted, err := s.Claim(t.Context(), asking("w", "a-validation"))
	if err != nil || !granted.Found || granted.Attempt != 1 {
		t.Errorf("when it has expired: %+v, %v", granted, err)
	}
}

// Work is that of the newest revision and of tagged ones; it goes with a revision that is pruned or purged.
func TestStore_Work(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, site := openStore(t, url, defaults()), open(t, url)
	number := numbering(t, s)
	put(t, site, "policy", requiring("a-validation", "b-validation"))
	if _, err := site.Service.Tag(t.Context(), 1, revisions.Options{}, "kept", nil); err != nil {
		t.Fatal(err)
	}
	put(t, site, "x", widget("w", 1))
	put(t, site, "x", widget("w", 2))
	number()
	is := func(what string, want ...string) {
		t.Helper()
		found, more, err := s.Work(t.Context(), queries.Page{Limit: 3})
		var got []string
		for _, w := range found {
			got = append(got, fmt.Sprintf("%d/%.1s %s", w.Revision, w.Validation, w.State))
		}
		if more {
			got = append(got, "more")
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", what, err, diff)
		}
	}
	is("at first", "3/a open", "3/b open", "1/a open", "more")
	if granted, err := s.Claim(t.Context(), asking("w", "b-validation")); err != nil || granted.Revision != 3 {
		t.Fatalf("%+v, %v", granted, err)
	}
	is("one claimed", "3/a open", "3/b claimed", "1/a open", "more")
	counts, err := s.CountWork(t.Context())
	if diff := cmp.Diff(map[string]int{"open": 3, "claimed": 1, "lapsed": 0}, counts); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if granted, err := s.Claim(t.Context(), asking("w", "b-validation")); err != nil || granted.Revision != 1 {
		t.Errorf("the older one: %+v, %v", granted, err)
	}
	if err := site.Service.Untag(t.Context(), 1, revisions.Options{}, "kept"); err != nil {
		t.Fatal(err)
	}
	number()
	if _, err := site.Service.Prune(t.Context(), 1, revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	is("after a prune", "3/a open", "3/b claimed")
	if err := site.Service.Purge(t.Context(), revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	is("after a purge")
}

// Work is found by index also where there were many claims before.
func TestStore_Claim_pages(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := openStore(t, url, defaults()), storetest.Connect(t, url)
	put(t, open(t, url), "policy", requiring("a-validation", "b-validation"))
	numbering(t, s)()
	storetest.Execute(t, conn, `INSERT INTO claims (site, revision, validation, tokens, since, ended_at)
		SELECT 'default', 1, 'v' || i, ARRAY[gen_random_uuid()], now(), now() FROM generate_series(1, 20000) i`)
	for _, sql := range []string{
		"VACUUM ANALYZE claims", "SET plan_cache_mode = force_generic_plan",
		store.Prepare("work", store.Statements.SelectWork), store.Prepare("find", store.Statements.FindClaim),
		store.Prepare("result", store.Statements.ExtendClaim),
	} {
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	token := "'" + string(claims.NewToken()) + "'"
	const most = 40
	for _, sql := range []string{
		store.Execute("work", store.Statements.SelectWork, map[string]string{
			"site": "'default'", "names": "'{a-validation}'", "each": "9",
		}),
		store.Execute("find", store.Statements.FindClaim, map[string]string{
			"site": "'default'", "claim": token, "age": "'1 day'",
		}),
		store.Execute("result", store.Statements.ExtendClaim, map[string]string{
			"site": "'default'", "claim": token, "age": "'1 day'", "progress": "NULL",
		}),
	} {
		if pages := pagesRead(t, conn, sql); pages > most {
			t.Errorf("%s reads %d pages", sql, pages)
		}
	}
}
