package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/changes"
	"purser/internal/claims"
	"purser/internal/document"
	"purser/internal/feed"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/sites"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// workIn makes sites with work on the validations v and w, of a revision that is tagged and of the newest one. It returns a
// function that numbers the events of all.
func workIn(t *testing.T, s *store.Store, names ...string) (number func()) {
	t.Helper()
	by := revisions.Defaults{validations.SchemaValidation}
	for _, name := range names {
		if _, err := s.SetSite(t.Context(), name, sites.Settings{}, sites.Condition{}, sites.MaxSites, noAudit); err != nil {
			t.Fatal(err)
		}
		kept := s.Database.Site(name)
		service := changes.NewService(changes.Config{
			Site: name, DefaultValidations: by, Store: kept, Now: time.Now,
			Engine: validations.NewEngine(validations.Options{}), Limits: document.DefaultLimits(),
			Observe: func(string, time.Duration) {},
		})
		for _, text := range []string{requiring("v-validation", "w-validation"), requiring("v-validation", "w-validation") + widget("x", 1)} {
			if _, err := service.Put(t.Context(), "b", []byte(text), document.YAML, revisions.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		about := revisions.About{Revision: 1, Caller: revisions.Caller{ID: "u", Name: "u"}}
		if _, err := kept.Tag(t.Context(), about, revisions.Tag{Name: "t", Data: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	told := feed.New(feed.Config{Store: s.Database, Defaults: by, Keep: time.Hour, MaxWaits: 1})
	number = func() {
		if _, err := told.Of(feed.All).NumberEvents(t.Context()); err != nil {
			t.Error(err)
		}
	}
	number()
	return number
}

// What FindWork finds is what Claim claims: in the sites that take changes and have work on one of the names.
func TestDatabase_FindWork(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openStore(t, url, defaults())
	conn := storetest.Connect(t, url)
	number := workIn(t, s, "a", "b", "c")
	find := func(name string, among ...claims.SiteName) claims.Found {
		t.Helper()
		found, err := s.FindWork(t.Context(), claims.Look{Names: []string{name}, Among: among})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	drain := func(name string) map[string]int {
		t.Helper()
		counts := map[string]int{}
		for found := find(name); found.Site != ""; found = find(name) {
			granted, err := s.Database.Site(found.Site).Claim(t.Context(), asking("k", name))
			if err != nil || !granted.Found {
				t.Fatalf("%s is said to have work: %+v, %v", found.Site, granted, err)
			}
			counts[found.Site]++
		}
		return counts
	}
	is := func(what string, got, want map[string]int) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	if found := find("w-validation", claims.SiteName{Site: "c", Validation: "w-validation"}, claims.SiteName{Site: "d", Validation: "w-validation"}); found.Site != "c" {
		t.Errorf("among c and d: %+v", found)
	}
	if found := find("x"); found != (claims.Found{}) {
		t.Errorf("of other names: %+v", found)
	}
	is("all", drain("v-validation"), map[string]int{"a": 2, "b": 2, "c": 2})
	if next := find("v-validation").Next; next <= 0 || next > 2*time.Minute {
		t.Errorf("claims run out in %v", next)
	}
	for _, sql := range []string{
		"UPDATE claims SET expires_at = now() - interval '1 s' WHERE site = 'a' AND revision = 1",
		"UPDATE claims SET held = false WHERE site = 'b' AND revision = 2",
		"DELETE FROM tags WHERE site = 'c'",
	} {
		storetest.Execute(t, conn, sql)
	}
	is("run out and given back", drain("v-validation"), map[string]int{"a": 1, "b": 1})
	is("without a tag", drain("w-validation"), map[string]int{"a": 2, "b": 2, "c": 1})
	if _, _, err := s.Database.Site("c").Request(t.Context(), revisions.About{Revision: 1}, "x", "r"); err != nil {
		t.Fatal(err)
	}
	is("asked for", drain("x"), map[string]int{"c": 1})
	storetest.Execute(t, conn, "UPDATE claims SET held = false")
	postFor(t, s.Database.Site("a"), claims.Work{Revision: 2, Validation: "v-validation"}, "")
	if _, err := s.SetSite(t.Context(), "b", sites.Settings{Archived: true}, sites.Condition{}, sites.MaxSites, noAudit); err != nil {
		t.Fatal(err)
	}
	is("of a result and an archived site", drain("v-validation"), map[string]int{"a": 1, "c": 1})
	number()
	storetest.Execute(t, conn, "UPDATE claims SET held = false")
	is("of a result that is numbered", drain("v-validation"), map[string]int{"a": 1, "c": 1})
}

// The lists of all sites have what those of each have, in one order.
func TestDatabase_ofSites(t *testing.T) {
	t.Parallel()
	s := openStore(t, storetest.URL(t), defaults())
	workIn(t, s, "a", "b", "c")
	for i, name := range []string{"c", "a", "b"} {
		about := revisions.About{Revision: 2, Caller: revisions.Caller{ID: "u", Name: "u"}}
		wanted := validations.WantedWaiver{Validation: "v-validation", Reason: "r", Lasts: time.Duration(i+1) * time.Hour}
		if _, err := s.Database.Site(name).Waive(t.Context(), about, wanted); err != nil {
			t.Fatal(err)
		}
	}
	if granted, err := s.Database.Site("b").Claim(t.Context(), asking("k", "w-validation")); err != nil || !granted.Found {
		t.Fatalf("%+v, %v", granted, err)
	}
	var want []string
	for _, name := range []string{"a", "b", "c"} {
		works, _, err := s.Database.Site(name).Work(t.Context(), queries.Page{Limit: 99})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range works {
			want = append(want, fmt.Sprint(name, " ", w.Revision, " ", w.Validation, " ", w.State, " ", w.Worker))
		}
	}
	list := func(among []string, page queries.Page) (got []string, more bool) {
		t.Helper()
		works, more, err := s.WorkOfSites(t.Context(), among, page)
		if err != nil {
			t.Error(err)
		}
		for _, w := range works {
			got = append(got, fmt.Sprint(w.Site, " ", w.Revision, " ", w.Validation, " ", w.State, " ", w.Worker))
		}
		return got, more
	}
	for name, c := range map[string]struct {
		among []string
		page  queries.Page
		want  []string
		more  bool
	}{
		"all":  {nil, queries.Page{Limit: 99}, want, false},
		"page": {nil, queries.Page{Offset: 3, Limit: 4}, want[3:7], true},
		"some": {[]string{"c", "b"}, queries.Page{Limit: 99}, want[4:], false},
		"none": {[]string{}, queries.Page{Limit: 99}, nil, false},
	} {
		if got, more := list(c.among, c.page); cmp.Diff(c.want, got) != "" || more != c.more {
			t.Errorf("%s: more %v (-want +got):\n%s", name, more, cmp.Diff(c.want, got))
		}
	}
	waivers := func(among []string, page queries.Page, active bool) (names string) {
		t.Helper()
		found, err := s.Database.WaiversOfSites(t.Context(), among, page, active)
		if err != nil {
			t.Error(err)
		}
		for _, w := range found.Waivers {
			names += w.Site //nolint:perfsprint // few
		}
		if found.More {
			names += "+"
		}
		return names
	}
	got := []string{
		waivers(nil, queries.Page{Limit: 9}, true), waivers(nil, queries.Page{Offset: 1, Limit: 1}, false),
		waivers([]string{"a", "b"}, queries.Page{Limit: 9}, false), waivers([]string{}, queries.Page{Limit: 9}, false),
	}
	if diff := cmp.Diff([]string{"cab", "a+", "ab", ""}, got); diff != "" {
		t.Errorf("waivers (-want +got):\n%s", diff)
	}
}
