package changes

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// broken is a site that cannot be read.
type broken struct{ *memory }

func (broken) Recall([]string) (revisions.Snapshot, bool) { return revisions.Snapshot{}, false }

func (broken) Snapshot(context.Context, revisions.Need) (revisions.Snapshot, error) {
	return revisions.Snapshot{}, fault.New(fault.Unavailable, "HTTPServiceUnavailable", "no database")
}

func TestService_Put_unread(t *testing.T) {
	t.Parallel()
	s, m := service()
	s.Store = broken{m}
	_, err := s.Put(t.Context(), "a", []byte(widget("w", "{}")), document.YAML, revisions.Options{})
	wantFault(t, err, fault.Unavailable, "no database")
	_, err = s.Rollback(t.Context(), 0, revisions.Options{})
	wantFault(t, err, fault.Unavailable, "no database")
	_, err = s.PutChangeSet(t.Context(), nil, []byte("# no document"), document.YAML, revisions.Options{})
	wantFault(t, err, fault.Invalid, "holds no document") // before anything is read
}

// unknowing is a site without cached buckets.
type unknowing struct{ *memory }

func (unknowing) Recall([]string) (revisions.Snapshot, bool) { return revisions.Snapshot{}, false }

// Buckets that are not cached are read before anything is decoded.
func TestService_Put_unknownBucket(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "a", widget("w1", "{}"))
	s.Store, m.needs = unknowing{m}, nil
	if written := put(t, s, "a", widget("w1", "{}")); written.Changed || len(m.needs) != 1 {
		t.Errorf("changed %v by %d snapshots", written.Changed, len(m.needs))
	}
}

// An invalid body is reported before a stale revision, whether or not the bucket is cached.
func TestService_Put_invalidAndStale(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		s, m := service()
		put(t, s, "a", widget("w1", "{}"))
		if !known {
			s.Store = unknowing{m}
		}
		_, err := s.Put(t.Context(), "a", []byte("schema: 5"), document.YAML,
			revisions.Options{Expected: revisions.Expected{{Revision: 9}}})
		wantFault(t, err, fault.Invalid, "schema")
	}
}

// All documents of a site are read only for a change that expects its newest state, and immediately for one that
// expects the state that was seen last.
func TestService_Put_staleOfWhole(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "a", layeringPolicy("layers")+validationPolicy(validations.RenderingValidation)+widget("w1", "{}"))
	put(t, s, "b", widget("w2", "{}"))
	for _, dryRun := range []bool{true, false} {
		for _, c := range []struct {
			revision int64
			read     []bool // all documents, by snapshot
		}{{1, []bool{false}}, {2, []bool{true}}} {
			m.needs = nil
			options := revisions.Options{Expected: revisions.Expected{{Revision: c.revision}}, DryRun: dryRun}
			_, err := s.Put(t.Context(), "c", []byte(widget("w3", "{}")), document.YAML, options)
			if stale := fault.KindOf(err) == fault.Stale; stale != (c.revision == 1) {
				t.Fatalf("expecting revision %d: %v", c.revision, err)
			}
			var read []bool
			for _, need := range m.needs {
				read = append(read, need.Documents || need.Preview)
			}
			if diff := cmp.Diff(c.read, read); diff != "" {
				t.Errorf("expecting revision %d, dry run: %v (-want +got)\n%s", c.revision, dryRun, diff)
			}
		}
	}
}

// A site without revisions is read once, whatever is put into it; a rollback also reads its target.
func TestService_emptySite(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *Service) (Written, error){
		"put": func(s *Service) (Written, error) {
			body := layeringPolicy("layers") + dataSchema("string") + widget("w1", "{x: 1}") +
				validationPolicy(validations.RenderingValidation)
			return s.Put(t.Context(), "a", []byte(body), document.YAML, revisions.Options{})
		},
		"put a change set": func(s *Service) (Written, error) {
			body := inBucket("b", widget("w1", "{x: 1}")) + inBucket("a", widget("w2", "{x: 1}")) +
				inBucket("c", dataSchema("integer"))
			return s.PutChangeSet(t.Context(), []string{"d"}, []byte(body), document.YAML, revisions.Options{})
		},
		"roll back": func(s *Service) (Written, error) { return s.Rollback(t.Context(), 0, revisions.Options{}) },
	} {
		s, m := service()
		s.Store, m.needs = unknowing{m}, nil
		written, err := change(s)
		if err != nil || written.Revision != 1 || len(m.needs) != 1 {
			t.Errorf("%s: revision %d, %v; read %d times: %+v", name, written.Revision, err, len(m.needs), m.needs)
		}
		if failed := written.RevisionStatus.Failed; failed != (name == "put") {
			t.Errorf("%s: failed is %v", name, failed)
		}
		opened := map[string][]string{"put": {"a"}, "put a change set": {"a", "b", "c"}}[name]
		if diff := cmp.Diff(opened, slices.Sorted(slices.Values(m.commits[0].Diff.Opened))); diff != "" {
			t.Errorf("%s: opened buckets (-want +got)\n%s", name, diff)
		}
	}
}

// restless is a site on which each snapshot shows another document that must be read.
type restless struct {
	*memory

	n int
}

func (r *restless) Snapshot(ctx context.Context, need revisions.Need) (revisions.Snapshot, error) {
	r.n++
	return r.memory.Snapshot(ctx, need)
}

// growing is a change that needs more with each snapshot.
type growing struct{ site *restless }

func (g growing) need() revisions.Need {
	return revisions.Need{Governed: []string{string(rune('a' + g.site.n))}}
}

func (g growing) decoded(context.Context, revisions.Snapshot) (source, error) { return g, nil }

func (g growing) plan(context.Context, revisions.Snapshot) (revisions.Diff, error) {
	return revisions.Diff{}, nil
}

// A change whose needs grow with every snapshot starts over instead of reading forever.
func TestService_prepare_growing(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "a", widget("w1", "{}"))
	site := &restless{memory: m}
	s.Store = site
	_, err := judgingSource(t.Context(), s, growing{site})
	if !errors.Is(err, revisions.ErrStaleSnapshot) || site.n != maxSnapshots {
		t.Errorf("%v after %d snapshots, want ErrStaleSnapshot after %d", err, site.n, maxSnapshots)
	}
}

// A caller that disconnects stops waiting for the write lock.
func TestService_lockWrites(t *testing.T) {
	t.Parallel()
	s, _ := service()
	_, end, err := s.lockWrites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, _, err := s.lockWrites(ctx); !errors.Is(err, gone) {
		t.Errorf("error %v, want the cause of the context's end", err)
	}
	end()
	if _, _, err := s.lockWrites(t.Context()); err != nil {
		t.Error(err)
	}
}

// A large request that waits for the write lock does not hold a permit that the lock's holder needs.
func TestService_lockWrites_permit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := service()
		pool := budget.NewPool(1, time.Hour)
		large := func() context.Context {
			ctx, end := pool.Begin(t.Context())
			t.Cleanup(end)
			return ctx
		}
		waits, writes := large(), large()
		if err := budget.NewMeter(waits).Spend(budget.Second); err != nil {
			t.Fatal(err)
		}
		_, end, err := s.lockWrites(writes)
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := s.Put(waits, "a", []byte(widget("w", "{}")), document.YAML, revisions.Options{}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if err := budget.NewMeter(writes).Spend(budget.Second); err != nil {
			t.Errorf("the one that writes: %v", err)
		}
		end()
		group.Wait()
	})
}

// A change that becomes large while holding the write lock does not wait for another large request.
func TestService_lockWrites_exempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := service()
		pool := budget.NewPool(1, time.Hour)
		other, end := pool.Begin(t.Context())
		defer end()
		if err := budget.NewMeter(other).Spend(budget.Second); err != nil {
			t.Fatal(err)
		}
		mine, end := pool.Begin(t.Context())
		defer end()
		turn, endTurn, err := s.lockWrites(mine)
		if err != nil {
			t.Fatal(err)
		}
		defer endTurn()
		if err := budget.NewMeter(turn).Spend(budget.Second); err != nil {
			t.Errorf("%v, want no wait", err)
		}
	})
}

// A change that expects another revision is refused before documents unknown to the bucket are decoded.
func TestService_Put_stale(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "a", widget("w1", "{x: 1}"))
	_, err := s.Put(t.Context(), "a", []byte(widget("w1", "{x: 2}")), document.YAML,
		revisions.Options{Expected: revisions.Expected{{Revision: 7, Stamp: 0}}})
	wantFault(t, err, fault.Stale, "asks for revision 7, but the newest is 1")
	if len(m.commits) != 1 {
		t.Error("something was stored")
	}
}
