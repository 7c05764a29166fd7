package store_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
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

// calls are all methods of a Store that ask the database.
func calls(s *store.Store) map[string]func(ctx context.Context) error {
	zero := int64(0)
	pairs := []revisions.Pair{{Content: document.DigestOf("content")}}
	commit := revisions.Commit{Revision: revisions.Revision{ID: 1, CreatedAt: time.Now()}}
	event := revisions.AuditEvent{At: time.Now()}
	of := revisions.Revision{ID: 1}
	result := validations.Result{Name: "n", Status: "success", Validator: []byte("{}"), Errors: []byte("[]")}
	return map[string]func(ctx context.Context) error{
		"Snapshot": func(ctx context.Context) error {
			_, err := s.Snapshot(ctx, revisions.Need{Target: &zero})
			return err
		},
		"Append": func(ctx context.Context) error { _, err := s.Append(ctx, commit); return err },
		"Prune":  func(ctx context.Context) error { _, err := s.Prune(ctx, 1, revisions.Options{}); return err },
		"Purge":  func(ctx context.Context) error { return s.Purge(ctx, revisions.Options{}) },
		"Around": func(ctx context.Context) error { _, err := s.Around(ctx, 1); return err },
		"Tag": func(ctx context.Context) error {
			_, err := s.Tag(ctx, revisions.About{Revision: 1}, revisions.Tag{Name: "t", Data: []byte("{}")})
			return err
		},
		"Untag": func(ctx context.Context) error { _, err := s.Untag(ctx, revisions.About{Revision: 1}); return err },
		"AddResult": func(ctx context.Context) error {
			_, _, err := s.AddResult(ctx, revisions.About{Revision: 1}, result)
			return err
		},
		"Outdated": func(ctx context.Context) error { _, err := s.Outdated(ctx, nil, document.Digest{}, 1); return err },
		"Sealed":   func(ctx context.Context) error { _, err := s.Sealed(ctx); return err },
		"Reseal": func(ctx context.Context) error {
			return s.Reseal(ctx, revisions.SealedContent{Digest: document.Digest{1}}, nil)
		},
		"ResealText": func(ctx context.Context) error { return s.Reseal(ctx, revisions.SealedContent{Block: 1}, nil) },
		"Reread":     func(ctx context.Context) error { return s.Reread(ctx, revisions.Head{}, revisions.Diff{}, nil) },
		"Origins":    func(ctx context.Context) error { _, err := s.Origins(ctx, []int64{1}); return err },
		"OriginsNamed": func(ctx context.Context) error {
			_, err := s.OriginsNamed(ctx, 1, []document.Identity{{Name: "n"}})
			return err
		},
		"Texts":         func(ctx context.Context) error { _, err := s.Texts(ctx, []int64{32}, nil); return err },
		"OutdatedTexts": func(ctx context.Context) error { _, err := s.OutdatedTexts(ctx, nil, 0, 1); return err },
		"Latest":        func(ctx context.Context) error { _, err := s.Latest(ctx); return err },
		"Tagged":        func(ctx context.Context) error { _, err := s.Tagged(ctx, "t"); return err },
		"List":          func(ctx context.Context) error { _, _, err := s.List(ctx, queries.Query{}); return err },
		"Evidence":      func(ctx context.Context) error { _, err := s.Evidence(ctx, []int64{1}); return err },
		"EvidenceOf":    func(ctx context.Context) error { _, err := s.EvidenceOf(ctx, queries.Name{}); return err },
		"Tags":          func(ctx context.Context) error { _, err := s.Tags(ctx, 1); return err },
		"Documents":     func(ctx context.Context) error { _, err := s.Documents(ctx, 1, all()); return err },
		"Ranks":         func(ctx context.Context) error { _, err := s.Ranks(ctx, 1, all()); return err },
		"Fallback":      func(ctx context.Context) error { _, err := s.FallbackPolicy(ctx, 1); return err },
		"Compare":       func(ctx context.Context) error { _, err := s.Compare(ctx, 0, 1); return err },
		"Failures":      func(ctx context.Context) error { _, err := s.Failures(ctx, of, queries.EntryQuery{}); return err },
		"Strays":        func(ctx context.Context) error { _, err := s.Strays(ctx, of, "", 1, false); return err },
		"Failed":        func(ctx context.Context) error { _, err := s.FailedEntries(ctx, of, queries.EntryQuery{}); return err },
		"Checked":       func(ctx context.Context) error { _, err := s.Checked(ctx, pairs); return err },
		"Contents":      func(ctx context.Context) error { _, err := s.Contents(ctx, []document.Digest{{1}}); return err },
		"Reported":      func(ctx context.Context) error { _, err := s.Reported(ctx, of, ""); return err },
		"Errors":        func(ctx context.Context) error { _, err := s.ResultTexts(ctx, of, []int64{1}); return err },
		"Worst":         func(ctx context.Context) error { _, err := s.WorstResults(ctx, of); return err },
		"Record":        func(ctx context.Context) error { return s.Record(ctx, event) },
		"AuditEvents": func(ctx context.Context) error {
			_, _, err := s.AuditEvents(ctx, queries.AuditQuery{})
			return err
		},
	}
}

// allTables are those of a site.
func allTables() []string {
	return []string{
		"sites", "revisions", "buckets", "contents", "texts", "documents", "checks", "entries", "violations", "reported", "results",
		"occupancies", "tags", "audit",
	}
}

// brief are deadlines that end while the tables are locked.
func brief() store.Deadlines {
	const short = 50 * time.Millisecond
	return store.Deadlines{Ready: short, Read: short, Write: short, Append: short, Sweep: short}
}

// A call ends at its deadline with a fault that says when to try again, and ends before with its caller.
func TestStore_deadlines(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	release := storetest.Lock(t, url, "ACCESS EXCLUSIVE", allTables()...)
	hurried, patient := openStore(t, url, store.Options{Deadlines: brief()}), openStore(t, url, defaults())
	t.Cleanup(release) // before the stores are closed
	for name, call := range calls(hurried) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := call(t.Context())
			wantUnavailable(t, err)
			if !strings.Contains(err.Error(), "did not answer within 50ms") {
				t.Errorf("error %q", err)
			}
		})
	}
	gone := errors.New("the client went away")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	for name, call := range calls(patient) {
		t.Run(name+" without a caller", func(t *testing.T) {
			t.Parallel()
			if err := call(ctx); err == nil || fault.KindOf(err) == fault.Unavailable {
				t.Errorf("error %v, want that of the context", err)
			}
		})
	}
}

func wantUnavailable(t *testing.T, err error) {
	t.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || f.RetryAfter != time.Second {
		t.Fatalf("error %v, want Unavailable with RetryAfter", err)
	}
}

// A server that accepts connections and says nothing is not ready.
func TestStore_Ping_silent(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	s := openStore(t, "postgres://u@"+silent.Addr().String()+"/d?sslmode=disable", store.Options{Deadlines: brief()})
	wantUnavailable(t, s.Ping(t.Context()))
}

// A vanished host delays calls until the next host of the URL is tried, even if readiness checks, which have less time
// than that takes, arrive all the time. Without another host, the error is not the server's.
func TestStore_silentHost(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	vanished := silent.Addr().(*net.TCPAddr).Port
	at := storetest.Connect(t, storetest.URL(t)).Config()
	url := func(hosts, ports string) string {
		return fmt.Sprintf("postgres:///%s?host=%s&port=%s&user=%s&password=%s&sslmode=disable&connect_timeout=1",
			at.Database, hosts, ports, at.User, at.Password)
	}
	alone := openStore(t, url("127.0.0.1", strconv.Itoa(vanished)), defaults())
	_, err = alone.Around(t.Context(), 1)
	wantUnavailable(t, err)

	options := defaults()
	options.Deadlines.Ready = 300 * time.Millisecond
	s := openStore(t, url("127.0.0.1,"+at.Host, fmt.Sprintf("%d,%d", vanished, at.Port)), options)
	for range 100 {
		if err = s.Ping(t.Context()); err == nil {
			return
		}
	}
	t.Errorf("it never gets ready: %v", err)
}

// While all the connections that calls share wait for something, audit events, verdicts and readiness find one.
func TestStore_reserved(t *testing.T) {
	t.Parallel()
	const connections = 6
	for name, c := range map[string]struct {
		table, mode string
		shared      int // connections that wait
		call        func(ctx context.Context, s *store.Store) error
	}{
		"reads": {"buckets", "ACCESS EXCLUSIVE", 2, func(ctx context.Context, s *store.Store) error {
			_, err := s.Snapshot(ctx, revisions.Need{Buckets: []string{"a"}})
			return err
		}},
		"appends": {"sites", "EXCLUSIVE", 2, func(ctx context.Context, s *store.Store) error {
			_, err := s.Append(ctx, revisions.Commit{Base: revisions.Head{Epoch: -1}})
			return err
		}},
		"small writes": {"tags", "SHARE", 2, func(ctx context.Context, s *store.Store) error {
			_, err := s.Tag(ctx, revisions.About{Revision: 1}, revisions.Tag{Name: "t", Data: []byte("{}")})
			return err
		}},
		"results": {"results", "SHARE", 1, func(ctx context.Context, s *store.Store) error {
			_, _, err := s.AddResult(ctx, revisions.About{Revision: 1}, validations.Result{Name: "n", Validator: []byte("{}"), Errors: []byte("[]")})
			return err
		}},
		"purges": {"sites", "EXCLUSIVE", 1, func(ctx context.Context, s *store.Store) error {
			return s.Purge(ctx, revisions.Options{Expected: revisions.Expected{{Revision: 7}}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := storetest.URL(t)
			put(t, open(t, url), "a", widget("w", 1))
			s := openStore(t, storetest.Separated(url)+"pool_max_conns=6", defaults())
			release := storetest.Lock(t, url, c.mode, c.table)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var group sync.WaitGroup
			for range 3 * connections {
				group.Go(func() { _ = c.call(ctx, s) })
			}
			storetest.Waiting(t, storetest.Connect(t, url), c.shared)
			limited, end := context.WithTimeout(t.Context(), time.Minute)
			defer end()
			if err := s.Ping(limited); err != nil {
				t.Errorf("ready: %v", err)
			}
			if _, err := s.EvidenceOf(limited, queries.Name{}); err != nil {
				t.Errorf("verdict: %v", err)
			}
			if err := s.Record(limited, revisions.AuditEvent{At: time.Now()}); err != nil {
				t.Errorf("audit: %v", err)
			}
			cancel()
			release()
			group.Wait()
		})
	}
}
