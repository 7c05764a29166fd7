package sites_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/sites"
)

// kept is a store that counts its readings, each of which takes a while.
type kept struct {
	sites.Store

	mu    sync.Mutex
	reads int
	sites map[string]sites.Settings
}

// Settings implements sites.Store.
func (k *kept) Settings(_ context.Context, name string) (sites.Settings, error) {
	k.mu.Lock()
	k.reads++
	found, ok := k.sites[name]
	k.mu.Unlock()
	time.Sleep(100 * time.Millisecond)
	if !ok {
		return found, sites.Unknown(name, "")
	}
	return found, nil
}

// SetSite implements sites.Store.
func (k *kept) SetSite(_ context.Context, name string, s sites.Settings, _ sites.Condition, _ int, _ sites.Audit) (sites.Outcome, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sites[name] = s
	return sites.Changed, nil
}

// FindSite implements sites.Store.
func (*kept) FindSite(_ context.Context, name string) (sites.Site, error) {
	return sites.Site{Name: name}, nil
}

// Settings are read again after a second, requests that ask at once share a reading, and a site that does not exist is
// looked for each time.
func TestDirectory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &kept{sites: map[string]sites.Settings{"a": {Archived: true}}}
		d := sites.NewDirectory(store, time.Now)
		isRead := func(what string, want int) {
			t.Helper()
			if store.reads != want {
				t.Errorf("%s: %d readings, want %d", what, store.reads, want)
			}
		}
		var asking sync.WaitGroup
		for range 50 {
			asking.Go(func() {
				if got, err := d.Settings(t.Context(), "a"); err != nil || !got.Archived {
					t.Errorf("%+v, %v", got, err)
				}
			})
		}
		asking.Wait()
		isRead("at once", 1)
		time.Sleep(899 * time.Millisecond) // 999 after the reading began
		_, _ = d.Settings(t.Context(), "a")
		isRead("within a second", 1)
		time.Sleep(time.Millisecond)
		_, _ = d.Settings(t.Context(), "a")
		isRead("after a second", 2)
		for range 2 {
			if _, err := d.Settings(t.Context(), "b"); fault.KindOf(err) != fault.NotFound {
				t.Error(err)
			}
		}
		isRead("of none", 4)
	})
}

// What was read before a change is not used after it, however long the reading takes.
func TestDirectory_Forget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &kept{sites: map[string]sites.Settings{"a": {}}}
		d := sites.NewDirectory(store, time.Now)
		service := sites.NewService(store, d)
		var asking sync.WaitGroup
		asking.Go(func() { _, _ = d.Settings(t.Context(), "a") })
		time.Sleep(50 * time.Millisecond) // it has read, and has not returned
		if _, _, err := service.Set(t.Context(), "a", sites.Settings{Archived: true}, sites.Condition{}, nil); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Settings(t.Context(), "a"); err != nil || !got.Archived {
			t.Errorf("%+v, %v", got, err)
		}
		asking.Wait()
		if got, err := d.Settings(t.Context(), "a"); err != nil || !got.Archived {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// The settings of all sites that there may be are kept.
func TestDirectory_many(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		store := &kept{sites: map[string]sites.Settings{}}
		d := sites.NewDirectory(store, func() time.Time { return now })
		for turn := range 2 {
			for i := range sites.MaxSites {
				name := fmt.Sprintf("site-%d", i)
				store.sites[name] = sites.Settings{Labels: map[string]string{"region": "eu", "wave": "1"}}
				_, _ = d.Settings(t.Context(), name)
			}
			if store.reads != sites.MaxSites {
				t.Errorf("turn %d: %d readings", turn, store.reads)
			}
		}
	})
}

func TestService_Delete(t *testing.T) {
	t.Parallel()
	service := sites.NewService(&kept{}, sites.NewDirectory(&kept{}, time.Now))
	for name, c := range map[string]struct {
		site, confirm string
		want          fault.Kind
	}{
		"the default site": {"default", "default", fault.Conflict},
		"unconfirmed":      {"a", "", fault.Invalid},
		"another":          {"a", "b", fault.Invalid},
		"no name":          {"-", "-", fault.NotFound},
	} {
		err := service.Delete(t.Context(), c.site, c.confirm, sites.Condition{}, &revisions.AuditEvent{})
		if fault.KindOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
