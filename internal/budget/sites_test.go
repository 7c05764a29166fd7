package budget_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"purser/internal/budget"
)

// owner reads an owner as user@site.
func owner(text string) budget.Owner {
	user, site, _ := strings.Cut(text, "@")
	return budget.Owner{User: user, Site: site}
}

// A site has half of what is free beside others, and all of it alone.
func TestShares_sites(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size  int64
		takes string // who takes how much of weight 1, until nothing is granted
	}{
		"one site":                {8, "a@s 4, b@s 2, c@s 1, d@s 1"},
		"its users, beside":       {16, "a@s 8, b@t 4, c@s 0, c@t 0, c@u 2"},
		"the server's own":        {8, "a@s 4, @ 2, b@s 1"},
		"the site's own":          {8, "@s 8"},
		"the site's own, beside":  {8, "a@t 4, @s 2, @s 0, b@s 0"},
		"a user of several sites": {8, "a@s 4, a@t 0, a@ 0"},
		"nothing is left":         {4, "@s 4, a@t 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shares := budget.NewShares(c.size)
			for take := range strings.SplitSeq(c.takes, ", ") {
				who, want, _ := strings.Cut(take, " ")
				got, most := 0, 100
				if who == "@" {
					most = 2
				}
				for got < most && shares.Try(owner(who), 1) != nil {
					got++
				}
				if strconv.Itoa(got) != want {
					t.Errorf("%s took %d, want %s", who, got, want)
				}
			}
		})
	}
}

// A site that finds nothing is next, and counts for ten minutes after it has asked or held something.
func TestShares_newcomer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shares := budget.NewShares(3)
		all := []func(){shares.Try(owner("@s"), 1), shares.Try(owner("@s"), 1), shares.Try(owner("@s"), 1)}
		if shares.Try(owner("@t"), 1) != nil {
			t.Fatal("more than there is")
		}
		all[0]()
		if shares.Try(owner("@s"), 1) != nil {
			t.Error("the first site takes what the second one waits for")
		}
		second := shares.Try(owner("@t"), 1)
		if second == nil {
			t.Fatal("the second site gets nothing")
		}
		time.Sleep(time.Hour)
		if all[1](); shares.Try(owner("@s"), 1) != nil {
			t.Error("the second site holds something")
		}
		second()
		if shares.Try(owner("@t"), 3) != nil {
			t.Error("more than there is")
		}
		time.Sleep(10*time.Minute - 1)
		if shares.Try(owner("@s"), 2) != nil {
			t.Error("the second site asked less than ten minutes ago")
		}
		time.Sleep(time.Nanosecond)
		if shares.Try(owner("@s"), 2) == nil {
			t.Error("the second site asked ten minutes ago, and holds nothing")
		}
	})
}

// scene is claims of weights that wait for each other.
type scene struct {
	shares  *budget.Shares
	ctx     context.Context
	granted []string // in order
	held    map[string]func()
	got     chan claimed
	waiting int
}

type claimed struct {
	name    string
	release func()
}

func newScene(ctx context.Context, size int64) *scene {
	return &scene{shares: budget.NewShares(size), ctx: ctx, held: map[string]func(){}, got: make(chan claimed, 1000)}
}

// claim begins to wait for something.
func (s *scene) claim(name string, of budget.Owner, claim budget.Claim) {
	s.waiting++
	go func() {
		if release, err := s.shares.Acquire(budget.WithOwner(s.ctx, of), claim); err == nil {
			s.got <- claimed{name, release}
		}
	}()
	s.settle()
}

// settle notes what was granted, by name if it was at once.
func (s *scene) settle() {
	synctest.Wait()
	var now []string
	for len(s.got) > 0 {
		one := <-s.got
		s.waiting--
		s.held[one.name] = one.release
		now = append(now, one.name)
	}
	slices.Sort(now)
	s.granted = append(s.granted, now...)
}

func (s *scene) release(name string) {
	s.held[name]()
	delete(s.held, name)
	s.settle()
}

// names returns what is held, in a certain order.
func (s *scene) names() []string {
	var names []string
	for name := range s.held {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Sites that wait take turns; the urgent claims of a site are before its others, and before those of others.
func TestShares_turns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t.Context(), 1)
		for i, who := range strings.Fields("s0 s1 s2 s3 t1 s4! t2 s5! u1 t3!") {
			site, urgent := strings.CutSuffix(who, "!")
			s.claim(who, owner(fmt.Sprintf("%d@%s", i, site[:1])), budget.Claim{Weight: 1, Urgent: urgent})
		}
		for len(s.held) > 0 {
			s.release(s.names()[0])
		}
		if got, want := strings.Join(s.granted, " "), "s0 s4! t3! s5! s1 t1 u1 s2 t2 s3"; got != want {
			t.Errorf("granted in the order %s, want %s", got, want)
		}
	})
}

// A large claim of a site is not passed by small ones of its site for ever, and work that keeps something goes on.
func TestShares_largeOfSite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t.Context(), 12)
		s.claim("other", owner("o@t"), budget.Claim{Weight: 1})
		s.claim("a", owner("a@s"), budget.Claim{Weight: 2})
		s.claim("b", owner("b@s"), budget.Claim{Weight: 2})
		s.claim("large", owner("c@s"), budget.Claim{Weight: 5})
		s.claim("small", owner("d@s"), budget.Claim{Weight: 1})
		s.claim("more of a", owner("a@s"), budget.Claim{Weight: 2, Kept: 2})
		s.claim("another", owner("e@t"), budget.Claim{Weight: 1})
		if got := fmt.Sprint(s.granted); got != "[other a b more of a another]" {
			t.Fatalf("granted: %s", got)
		}
		s.release("more of a")
		s.release("a")
		if got := fmt.Sprint(s.granted[5:]); got != "[large]" {
			t.Errorf("granted when 8 are free and the site holds 2: %s", got)
		}
		for len(s.held) > 0 {
			s.release(s.names()[0])
		}
		if s.waiting > 0 || s.shares.Held() > 0 {
			t.Errorf("in the end %d wait, and %d are held", s.waiting, s.shares.Held())
		}
	})
}

// Whatever is taken and released, a weight is granted if it is free and within the shares of its user and its site, and
// all is free in the end.
func TestLaws_shares(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkShares)
}

func checkShares(t *rapid.T) {
	size := rapid.Int64Range(1, 50).Draw(t, "size")
	shares := budget.NewShares(size)
	type taken struct {
		owner   budget.Owner
		weight  int64
		release func()
	}
	var all []taken
	asked := map[string]bool{} // in less than ten minutes
	for range rapid.IntRange(0, 60).Draw(t, "steps") {
		if len(all) > 0 && rapid.Bool().Draw(t, "release") {
			i := rapid.IntRange(0, len(all)-1).Draw(t, "which")
			all[i].release()
			all = append(all[:i], all[i+1:]...)
			continue
		}
		owner := owner(rapid.SampledFrom([]string{"a@s", "b@s", "c@s", "a@t", "d@t", "c@u", "a@", "@s", "@"}).Draw(t, "owner"))
		weight := rapid.Int64Range(1, size).Draw(t, "weight")
		var ofUser, ofSite, held int64
		for _, one := range all {
			held += one.weight
			if one.owner.User == owner.User {
				ofUser += one.weight
			}
			if one.owner.Site == owner.Site {
				ofSite += one.weight
			}
		}
		if owner.Site != "" {
			asked[owner.Site] = true
		}
		within := func(mine int64) bool { return mine == 0 || mine+weight <= size-held }
		want := held+weight <= size && (owner.User == "" || within(ofUser)) &&
			(owner.Site == "" || len(asked) < 2 || within(ofSite))
		release := shares.Try(owner, weight)
		if (release != nil) != want {
			t.Fatalf("%+v, who holds %d and whose site holds %d of %d, of which %d are held, got %d: %v", owner, ofUser, ofSite,
				size, held, weight, !want)
		}
		if release != nil {
			all = append(all, taken{owner, weight, release})
		}
	}
	for _, one := range all {
		one.release()
	}
	if shares.Held() != 0 {
		t.Fatalf("%d are held in the end", shares.Held())
	}
}

// step is a claim, or the release of what is held at an index.
type step struct {
	user    string
	site    string
	claim   budget.Claim
	release int
}

func steps(t *rapid.T, size int64, sites ...string) []step {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			user: rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "user"),
			site: rapid.SampledFrom(sites).Draw(t, "site"),
			claim: budget.Claim{
				Weight: rapid.Int64Range(1, size).Draw(t, "weight"), Urgent: rapid.Bool().Draw(t, "urgent"),
			},
			release: rapid.IntRange(-3, 10).Draw(t, "release"),
		}
	}), 0, 40).Draw(t, "steps")
}

// play does steps, and then releases what is held until nothing is. It returns what was granted in which order.
func play(ctx context.Context, t *rapid.T, size int64, all []step, site func(string) string) []string {
	s := newScene(ctx, size)
	for i, step := range all {
		if names := s.names(); step.release >= 0 && len(names) > 0 {
			s.release(names[step.release%len(names)])
			continue
		}
		owner := budget.Owner{User: step.user, Site: site(step.site)}
		s.claim(fmt.Sprintf("%02d", i), owner, step.claim) //nolint:contextcheck // the scene has it
	}
	for len(s.held) > 0 {
		s.release(s.names()[0])
	}
	if s.waiting > 0 || s.shares.Held() > 0 {
		t.Fatalf("in the end %d wait, and %d are held", s.waiting, s.shares.Held())
	}
	return s.granted
}

// bubble is a test in a bubble of synctest, where it has no deadline.
type bubble struct{ testing.TB }

// With one site in use, everything is granted as if there were none.
func TestLaws_oneSite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubble{t}, func(rt *rapid.T) {
			size := rapid.Int64Range(1, 10).Draw(rt, "size")
			all := steps(rt, size, "s", "")
			none := play(t.Context(), rt, size, all, func(string) string { return "" })
			one := play(t.Context(), rt, size, all, func(site string) string { return site })
			if !slices.Equal(none, one) {
				t.Fatalf("with one site, these were granted: %v; without: %v", one, none)
			}
		})
	})
}

// With several sites, every claim is granted in the end.
func TestLaws_noStarvation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubble{t}, func(rt *rapid.T) {
			size := rapid.Int64Range(1, 10).Draw(rt, "size")
			play(t.Context(), rt, size, steps(rt, size, "s", "t", "u", ""), func(site string) string { return site })
		})
	})
}

// A site that arrives while others have all, and many more of their claims wait, lets each of them pass once at most.
func TestLaws_newcomer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubble{t}, func(rt *rapid.T) {
			s := newScene(t.Context(), rapid.Int64Range(1, 6).Draw(rt, "size"))
			for i := range rapid.IntRange(10, 30).Draw(rt, "claims") {
				site := rapid.SampledFrom([]string{"s", "t", "u"}).Draw(rt, "site")
				s.claim(fmt.Sprintf("%s%02d", site, i), owner(fmt.Sprintf("%d@%s", i, site)), budget.Claim{Weight: 1})
			}
			before := len(s.granted)
			s.claim("new", owner("new@v"), budget.Claim{Weight: 1})
			passed := map[string]int{}
			for s.held["new"] == nil {
				names := s.names()
				s.release(names[rapid.IntRange(0, len(names)-1).Draw(rt, "which")])
			}
			for _, name := range s.granted[before:] {
				if passed[name[:1]]++; name != "new" && passed[name[:1]] > 1 {
					rt.Fatalf("passed by %v", s.granted[before:])
				}
			}
			for len(s.held) > 0 {
				s.release(s.names()[0])
			}
		})
	})
}

// A large request of a site beside others uses half of the processors, and leaves half of the permits to them, though
// they have made small requests alone.
func TestPool_Uses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		uses                string // sites that are in use
		workers, mostLarges int
	}{
		"alone":  {"s s", runtime.GOMAXPROCS(0), 4},
		"beside": {"s t", max(1, runtime.GOMAXPROCS(0)/2), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				pool := budget.NewPool(4, time.Minute)
				for site := range strings.FieldsSeq(c.uses) {
					pool.Uses(site)
				}
				ctx, cancel := context.WithCancel(budget.WithOwner(t.Context(), budget.Owner{Site: "s"}))
				defer cancel()
				var working, large atomic.Int64
				for range 4 {
					go func() {
						ctx, end := pool.Begin(ctx)
						defer end()
						if budget.NewMeter(ctx).Admit() == nil {
							large.Add(1)
							<-ctx.Done()
						}
					}()
				}
				go func() {
					ctx, end := pool.Begin(ctx)
					defer end()
					_ = budget.ForEach(ctx, 1000, func(*budget.Meter, int) error {
						working.Add(1)
						<-ctx.Done()
						return ctx.Err()
					})
				}()
				synctest.Wait()
				if int(working.Load()) != c.workers || int(large.Load()) != c.mostLarges {
					t.Errorf("%d goroutines work, want %d; %d requests are large, want %d", working.Load(), c.workers, large.Load(),
						c.mostLarges)
				}
			})
		})
	}
}
