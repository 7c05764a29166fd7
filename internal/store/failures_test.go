package store_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

func result() validations.Result {
	return validations.Result{Name: "n", Status: "success", Validator: []byte("{}"), Errors: []byte("[]")}
}

// A Postgres error that is not the server's fault becomes a fault with the cause, and nothing is
// stored.
func TestStore_obstacles(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	put(t, open(t, url), "a", widget("w", 1))
	s := openStore(t, url, defaults())
	conn := storetest.Connect(t, url)
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for code, want := range map[string]string{
		"53100": "no space left", "53200": "no memory left", "55P03": "locked", "57014": "took too long", "58030": "its disk",
		"25006": "read-only", "53400": "one of its limits", "42P05": "default_query_exec_mode=cache_describe",
		"40001": "Other requests kept getting in the way", "25P03": "does not answer", "08P01": "does not answer",
	} {
		exec("CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS " +
			"$$ BEGIN RAISE EXCEPTION 'made up' USING ERRCODE = '" + code + "'; END $$")
		exec("CREATE OR REPLACE TRIGGER fail BEFORE INSERT ON results EXECUTE FUNCTION fail()")
		_, _, err := s.AddResult(t.Context(), revisions.About{Revision: 1}, result())
		wantUnavailable(t, err)
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "made up") {
			t.Errorf("%s: %v, want it to say %q", code, err, want)
		}
	}
	exec("DROP TRIGGER fail ON results")
	if stamp, _, err := s.AddResult(t.Context(), revisions.About{Revision: 1}, result()); err != nil || stamp == 0 {
		t.Errorf("afterwards: %v, %v", stamp, err)
	}
	around, err := s.Around(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	of := revisions.Revision{ID: 1, Stamp: around.Stamp}
	if found, err := s.Reported(t.Context(), of, ""); err != nil || len(found) != 1 {
		t.Errorf("%d results are stored, %v", len(found), err)
	}
}

// A read-only database is not ready, and writes report it.
func TestStore_readOnly(t *testing.T) {
	t.Parallel()
	at := storetest.URL(t)
	put(t, open(t, at), "a", widget("w", 1))
	s := openStore(t, storetest.Separated(at)+"default_transaction_read_only=on", defaults())
	wantUnavailable(t, s.Ping(t.Context()))
	_, _, err := s.AddResult(t.Context(), revisions.About{Revision: 1}, result())
	wantUnavailable(t, err)
	if !strings.Contains(err.Error(), "read-only") {
		t.Error(err)
	}
}

// Where the database takes fewer connections than the pool would have, calls wait for one, and all are answered.
func TestStore_fewConnections(t *testing.T) {
	t.Parallel()
	at := storetest.URL(t)
	put(t, open(t, at), "a", widget("w", 1))
	conn := storetest.Connect(t, at)
	role := "few_" + conn.Config().Database
	for _, sql := range []string{
		"CREATE ROLE " + role + " LOGIN PASSWORD 'x' CONNECTION LIMIT 3",
		"GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role, "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO " + role,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, sql := range []string{"DROP OWNED BY " + role, "DROP ROLE " + role} {
			if _, err := conn.Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
	})
	s := openStore(t, storetest.Separated(at)+"user="+role+"&password=x", defaults())
	var group sync.WaitGroup
	for i := range 30 {
		group.Go(func() {
			for range 10 {
				_, err := s.Around(t.Context(), 1)
				if i%2 == 0 {
					_, _, err = s.AddResult(t.Context(), revisions.About{Revision: 1}, result())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if s.Stat().TotalConns() > 3 {
		t.Errorf("%d connections", s.Stat().TotalConns())
	}
}

// When all connections fall silent, each call ends at its deadline, and the next ones use new connections.
func TestStore_silence(t *testing.T) {
	t.Parallel()
	database := storetest.URL(t)
	put(t, open(t, database), "a", widget("w", 1))
	network, through := storetest.StartProxy(t, database)
	through = strings.Replace(through, "pool_max_conns=1", "pool_max_conns=8", 1)
	deadlines := store.DefaultDeadlines()
	deadlines.Ready = 200 * time.Millisecond // of the one call that is not answered
	s := openStore(t, through, store.Options{Deadlines: deadlines})
	var warm sync.WaitGroup
	for range 8 {
		warm.Go(func() { _, _ = s.Snapshot(t.Context(), revisions.Need{Documents: true}) })
	}
	warm.Wait()
	network.Swallow()
	wantUnavailable(t, s.Ping(t.Context()))
	for range 8 { // as many as there were connections
		if _, err := s.Around(t.Context(), 1); err != nil {
			t.Fatalf("after one call has ended: %v", err)
		}
	}
}

// Sessions end transactions abandoned by their server, and compile no statement, whatever the database's default is.
func TestOpen_settings(t *testing.T) {
	t.Parallel()
	database := storetest.URL(t)
	storetest.Execute(t, storetest.Connect(t, database),
		`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET jit = on', current_database()); END $$`)
	for name, c := range map[string]struct{ url, timeout, idle string }{
		"by default": {database, "15s", "5s"},
		"as given":   {storetest.Separated(database) + "statement_timeout=7s", "7s", "5s"},
	} {
		s := openStore(t, c.url, defaults())
		for setting, want := range map[string]string{
			"statement_timeout": c.timeout, "idle_in_transaction_session_timeout": c.idle, "plan_cache_mode": "force_generic_plan",
			"jit": "off", "enable_seqscan": "off",
		} {
			if got, err := s.Setting(t.Context(), setting); err != nil || got != want {
				t.Errorf("%s: %s is %s, %v; want %s", name, setting, got, err, want)
			}
		}
	}
}

// A server that another one has left behind, with a newer version of the schema, is not ready, adds no revision and
// deletes none.
func TestStore_tooOld(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	site := open(t, url)
	put(t, site, "a", widget("w", 1))
	s := openStore(t, url, defaults())
	if _, err := storetest.Connect(t, url).Exec(t.Context(), "UPDATE schema_migrations SET version = version + 1"); err != nil {
		t.Fatal(err)
	}
	_, errPut := site.Put(t.Context(), "a", []byte(widget("w", 2)), document.YAML, revisions.Options{})
	_, errPrune := s.Prune(t.Context(), 1, revisions.Options{})
	for _, err := range []error{errPut, errPrune, s.Purge(t.Context(), revisions.Options{}), s.Ping(t.Context())} {
		if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "written by a newer Purser") {
			t.Errorf("%v", err)
		}
	}
	if got := shown(t, site, 1); len(got) != 1 {
		t.Errorf("revision 1 has %v", got)
	}
}

// The results and failures of a revision are not taken for those of another one that has its number.
func TestStore_ofAnother(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	site := open(t, url)
	put(t, site, "schemas", widgetSchema)
	put(t, site, "a", widget("bad", 1))
	s := openStore(t, url, defaults())
	around, err := s.Around(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	of := revisions.Revision{ID: 2, Stamp: around.Stamp}
	if worst, err := s.WorstResults(t.Context(), of); err != nil || len(worst) != 0 {
		t.Errorf("nothing posted: %v, %v", worst, err)
	}
	if _, _, err := s.AddResult(t.Context(), revisions.About{Revision: 2}, result()); err != nil {
		t.Fatal(err)
	}
	reported, err := s.Reported(t.Context(), of, "")
	if err != nil || len(reported) != 1 {
		t.Fatalf("posted: %v, %v", reported, err)
	}
	asked := map[string]func(of revisions.Revision) (found int, err error){
		"Reported": func(of revisions.Revision) (int, error) {
			list, err := s.Reported(t.Context(), of, "n")
			return len(list), err
		},
		"ResultTexts": func(of revisions.Revision) (int, error) {
			errs, err := s.ResultTexts(t.Context(), of, []int64{reported[0].ID})
			return len(errs), err
		},
		"WorstResults": func(of revisions.Revision) (int, error) {
			worst, err := s.WorstResults(t.Context(), of)
			return len(worst), err
		},
		"Failures": func(of revisions.Revision) (int, error) {
			list, err := s.Failures(t.Context(), of, queries.EntryQuery{})
			return len(list), err
		},
		"FailedEntries": func(of revisions.Revision) (int, error) {
			list, err := s.FailedEntries(t.Context(), of, queries.EntryQuery{})
			return len(list), err
		},
	}
	for name, ask := range asked {
		if found, err := ask(of); err != nil || found != 1 {
			t.Errorf("%s: %d, %v; want one", name, found, err)
		}
		if found, err := ask(revisions.Revision{ID: 2, Stamp: of.Stamp + 1}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s of another revision: %d, %v", name, found, err)
		}
	}
}
