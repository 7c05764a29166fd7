package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/client"
	"purser/internal/events"
)

// fake answers requests about sites, without a network.
type fake struct {
	answer func(site string, r *http.Request, nth int) (status int, body string, header []string)

	mu         sync.Mutex
	asked      []string // method, site, dry-run and If-Match
	number     map[string]int
	now, most  int // requests at the same time
	takes      time.Duration
	start      time.Time
	began      map[string]time.Duration
	lastPath   string
	lastValues map[string][]string
}

func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	site, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/sites/"), "/")
	f.mu.Lock()
	what := r.Method
	if r.URL.Query().Get("dry-run") == "true" {
		what = "DRY"
	}
	f.asked = append(f.asked, strings.TrimSpace(what+" "+site+" "+r.Header.Get("If-Match")))
	f.number[what+site]++
	nth := f.number[what+site]
	f.now++
	f.most = max(f.most, f.now)
	if _, known := f.began[site]; !known {
		f.began[site] = time.Since(f.start)
	}
	f.lastPath, f.lastValues = r.URL.Path, r.URL.Query()
	f.mu.Unlock()
	time.Sleep(f.takes) // a fake sleep of synctest
	f.mu.Lock()
	f.now--
	f.mu.Unlock()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	status, body, header := f.answer(site, r, nth)
	if status == 0 {
		return nil, errors.New("connection reset")
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		w.Header().Set(header[i], header[i+1])
	}
	w.WriteHeader(status)
	w.WriteString(body)
	return w.Result(), nil
}

func isDry(r *http.Request) bool { return r.URL.Query().Get("dry-run") == "true" }

func refusal(kind, message string) string {
	return fmt.Sprintf(`{"kind":"Status","message":%q,"details":{"errorType":%q}}`, message, kind)
}

// ran runs a push to sites, NAME or NAME=WAVE, and returns the outcomes by site and what is left.
func ran(t *testing.T, f *fake, push Push, sites ...string) (outcomes map[string]Result, left []Wave) {
	t.Helper()
	return ranIn(t.Context(), t, f, push, sites...)
}

func ranIn(ctx context.Context, t *testing.T, f *fake, push Push, sites ...string) (outcomes map[string]Result, left []Wave) {
	t.Helper()
	f.start, f.began, f.number = time.Now(), map[string]time.Duration{}, map[string]int{}
	server, err := client.New(client.Config{Server: "http://purser.example", Transport: f})
	if err != nil {
		t.Fatal(err)
	}
	push.Server, push.Bucket = server, "layer"
	push.From = events.Upstream{Site: "global", Revision: 17, Stamp: "ab", Bucket: "base"}
	if push.Parallel == 0 {
		push.Parallel = 1
	}
	var targets []Target
	for _, text := range sites {
		name, wave, _ := strings.Cut(text, "=")
		targets = append(targets, Target{Name: name, Status: "success", Wave: wave})
	}
	outcomes = map[string]Result{}
	left, err = push.Run(ctx, Waves(targets), func(target Target, result Result) error {
		outcomes[target.Name] = result
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return outcomes, left
}

func kindsOf(outcomes map[string]Result) string {
	var all []string
	for site, result := range outcomes {
		all = append(all, site+":"+string(result.Kind))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

const changes = `{"changed":true,"status":"success"}`

// A push is a dry run of each site, and the change in the state that it was about.
func TestPush(t *testing.T) {
	t.Parallel()
	f := &fake{answer: func(_ string, r *http.Request, _ int) (int, string, []string) {
		if isDry(r) {
			return 200, changes, []string{"ETag", `"4-aa"`, "Purser-Status", "success; findings=0"}
		}
		return 200, `[]`, []string{"ETag", `"5-bb"`, "Purser-Status", "success; findings=0"}
	}}
	outcomes, left := ran(t, f, Push{Promotes: true, MaxDeleted: 3, Message: "why"}, "atl1")
	want := map[string]Result{"atl1": {Outcome: Outcome{Kind: Stays}, Revision: 5, Stamp: "bb", Status: "success"}}
	if diff := cmp.Diff(want, outcomes); diff != "" || len(left) > 0 {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"DRY atl1", `PUT atl1 "4-aa"`}, f.asked); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	values := map[string][]string{
		"from": {"global@17-ab/base"}, "expect": {"success"}, "max-deleted": {"3"}, "message": {"why"},
	}
	if diff := cmp.Diff(values, f.lastValues); diff != "" || f.lastPath != "/sites/atl1/api/v1.0/buckets/layer/documents" {
		t.Errorf("%s\n%s", f.lastPath, diff)
	}
}

// Ten kinds of outcomes of a hundred sites are ten groups, and only those sites are changed that do not begin to fail.
func TestPush_groups(t *testing.T) {
	t.Parallel()
	answers := []func(site string) (int, string){
		func(string) (int, string) { return 200, `{"changed":false,"status":"success"}` },
		func(string) (int, string) { return 200, changes },
		func(string) (int, string) { return 200, "{" + waiting + "}" },
		func(string) (int, string) { return 200, "{" + broken + "," + begin + "," + findings + "}" },
		func(site string) (int, string) {
			return 200, strings.ReplaceAll("{"+broken+","+begin+","+findings+"}", "9001 is", site+" has 9002, which is")
		},
		func(string) (int, string) { return 200, "{" + broken + ",\"findings\":[" + oob + "]}" },
		func(site string) (int, string) { return 409, refusal("SiteFull", "The site "+site+" is full") },
		func(site string) (int, string) {
			return 403, refusal("HTTPForbidden", "Policy doesn't allow it in "+site)
		},
		func(string) (int, string) { return 500, refusal("InternalError", "Something is wrong") },
		func(string) (int, string) {
			return 409, refusal("Conflict", "Revision 5 has a document of this name since 2026-11-20T10:00:00.5")
		},
	}
	f := &fake{answer: func(site string, r *http.Request, _ int) (int, string, []string) {
		var n int
		if _, err := fmt.Sscanf(site, "s%d", &n); err != nil {
			t.Error(err)
		}
		status, body := answers[n%len(answers)](site)
		if !isDry(r) && n%len(answers) > 2 {
			t.Errorf("site %s is changed", site)
		}
		return status, body, []string{"ETag", `"4-aa"`}
	}}
	var sites []string
	for i := range 100 {
		sites = append(sites, fmt.Sprintf("s%d", i))
	}
	outcomes, left := ran(t, f, Push{Parallel: 4}, sites...)
	if len(left) > 0 || len(outcomes) != 100 {
		t.Fatalf("%d outcomes, %d waves left", len(outcomes), len(left))
	}
	var groups Groups
	for site, result := range outcomes {
		groups.Add(site, result.Outcome)
	}
	var got []string
	for _, group := range groups.Sorted() {
		got = append(got, fmt.Sprintf("%d %s", group.Sites, group.Kind))
	}
	want := []string{
		"10 unchanged", "10 success", "10 waiting", "10 would-fail", "10 would-fail", "10 would-fail", "10 refused", "10 refused",
		"10 refused", "10 unasked",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A site that others change after its dry run is looked at again, at most a few times, and a lost answer too.
func TestPush_changesMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		put   func(nth int) (int, string)
		dry   func(nth int) string
		kind  Kind
		asked string
	}{
		"once": {
			func(nth int) (int, string) {
				if nth == 1 {
					return 412, refusal("HTTPPreconditionFailed", "Revision 2 is the newest")
				}
				return 200, "[]"
			},
			func(int) string { return changes }, Stays, `DRY a, PUT a "1-aa", DRY a, PUT a "2-aa"`,
		},
		"and would fail then": {
			func(int) (int, string) { return 412, refusal("HTTPPreconditionFailed", "Revision 2 is the newest") },
			func(nth int) string {
				if nth > 1 {
					return "{" + broken + "}"
				}
				return changes
			},
			Fails, `DRY a, PUT a "1-aa", DRY a`,
		},
		"always": {
			func(int) (int, string) { return 412, refusal("HTTPPreconditionFailed", "Revision 2 is the newest") },
			func(int) string { return changes }, Refused,
			`DRY a, PUT a "1-aa", DRY a, PUT a "2-aa", DRY a, PUT a "3-aa", DRY a, PUT a "4-aa"`,
		},
		"a lost answer": {
			func(nth int) (int, string) {
				if nth == 1 {
					return 0, ""
				}
				return 200, "[]"
			},
			func(nth int) string {
				if nth > 1 {
					return `{"changed":false,"status":"success"}`
				}
				return changes
			},
			Unchanged, `DRY a, PUT a "1-aa", DRY a, PUT a "2-aa"`,
		},
		"refused": {
			func(int) (int, string) { return 409, refusal("SiteFull", "The site is full") },
			func(int) string { return changes }, Refused, `DRY a, PUT a "1-aa"`,
		},
	} {
		f := &fake{answer: func(_ string, r *http.Request, nth int) (int, string, []string) {
			if isDry(r) {
				return 200, c.dry(nth), []string{"ETag", fmt.Sprintf(`"%d-aa"`, nth)}
			}
			status, body := c.put(nth)
			return status, body, []string{"ETag", fmt.Sprintf(`"%d-bb"`, nth)}
		}}
		outcomes, _ := ran(t, f, Push{}, "a")
		if got := strings.Join(f.asked, ", "); outcomes["a"].Kind != c.kind || got != c.asked {
			t.Errorf("%s: %+v, asked %s", name, outcomes["a"], got)
		}
		if says := fmt.Sprint(outcomes["a"].Lines); strings.Contains(says, lostAnswer) != (name == "a lost answer") {
			t.Errorf("%s: %s", name, says)
		}
	}
}

// What a site refuses because of an option has the advice of the program; without one it is refused all the same.
func TestPush_advice(t *testing.T) {
	t.Parallel()
	for _, advice := range []Advice{{}, {Weakened: "use --yes", TooMany: "use --max-deleted"}} {
		f := &fake{answer: func(site string, _ *http.Request, _ int) (int, string, []string) {
			if site == "many" {
				return 409, refusal("TooManyDeleted", "It would delete 3"), nil
			}
			return 200, "{" + fine + `,"weakened":["policy p is gone"]}`, nil
		}}
		outcomes, _ := ran(t, f, Push{Advice: advice}, "many", "weak")
		want := map[string]Outcome{
			"many": NewOutcome(Refused, Line{Text: "It would delete 3"}),
			"weak": NewOutcome(Refused, Line{Text: "policy p is gone"}, Line{Text: "ValidationPolicies would be weakened"}),
		}
		if advice != (Advice{}) {
			want["many"] = NewOutcome(Refused, Line{Text: "It would delete 3"}, Line{Text: "use --max-deleted"})
			want["weak"] = NewOutcome(Refused, Line{Text: "policy p is gone"}, Line{Text: "use --yes"})
		}
		for site, outcome := range want {
			if diff := cmp.Diff(outcome, outcomes[site].Outcome); diff != "" {
				t.Errorf("%s (-want +got):\n%s", site, diff)
			}
		}
	}
}

// A revision that fails although its dry run did not is a failure.
func TestPush_failsAfterAll(t *testing.T) {
	t.Parallel()
	f := &fake{answer: func(string, *http.Request, int) (int, string, []string) {
		return 200, changes, []string{"ETag", `"5-bb"`, "Purser-Status", "failure; findings=2"}
	}}
	outcomes, left := ran(t, f, Push{MaxFailures: 1}, "a", "b")
	want := Result{Outcome: NewOutcome(Fails, Line{Text: madeAndFails}), Revision: 5, Stamp: "bb", Status: "failure"}
	if diff := cmp.Diff(want, outcomes["a"]); diff != "" || textOf(left) != ":b" {
		t.Errorf("left %s, -want +got:\n%s", textOf(left), diff)
	}
}

// No site is begun after as many failures as are allowed; dry runs go on.
func TestPush_maxFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		push Push
		done string
		left string
	}{
		{Push{MaxFailures: 1}, "a:success bad1:would-fail", "1:c 2:bad2,d 3:e,worse"},
		{Push{MaxFailures: 2}, "a:success bad1:would-fail bad2:would-fail c:success", "2:d 3:e,worse"},
		{Push{MaxFailures: 3}, "a:success bad1:would-fail bad2:would-fail c:success d:success e:success worse:unasked", ""},
		{Push{MaxFailures: 1, DryRun: true}, "a:success bad1:would-fail bad2:would-fail c:success d:success e:success worse:unasked", ""},
	} {
		f := &fake{answer: func(site string, _ *http.Request, _ int) (int, string, []string) {
			switch {
			case strings.HasPrefix(site, "bad"):
				return 200, "{" + broken + "}", nil
			case site == "worse":
				return 500, refusal("InternalError", "x"), nil
			}
			return 200, changes, nil
		}}
		outcomes, left := ran(t, f, c.push, "a=1", "bad1=1", "c=1", "bad2=2", "d=2", "e=3", "worse=3")
		if kindsOf(outcomes) != c.done || textOf(left) != c.left {
			t.Errorf("%+v: %s, left %s", c.push, kindsOf(outcomes), textOf(left))
		}
	}
}

// A wave begins when the one before is done, and so many sites are asked at the same time.
func TestPush_waves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{takes: time.Second, answer: func(string, *http.Request, int) (int, string, []string) { return 200, changes, nil }}
		ran(t, f, Push{Parallel: 2}, "a=1", "b=1", "c=1", "d=2", "e=10", "f=")
		want := map[string]time.Duration{
			"a": 0, "b": 0, "c": 2 * time.Second, "d": 4 * time.Second, "e": 6 * time.Second, "f": 8 * time.Second,
		}
		if diff := cmp.Diff(want, f.began); diff != "" || f.most != 2 {
			t.Errorf("%d at the same time, sites began (-want +got):\n%s", f.most, diff)
		}
	})
}

// A server that is busy is asked again when it says so, and no site is left out.
func TestPush_busy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(_ string, _ *http.Request, nth int) (int, string, []string) {
			if nth < 3 {
				return 503, refusal("HTTPServiceUnavailable", "busy"), []string{"Retry-After", "7", "Purser-Stored", "no"}
			}
			return 200, changes, nil
		}}
		outcomes, _ := ran(t, f, Push{}, "a", "b")
		if took := time.Since(f.start); kindsOf(outcomes) != "a:success b:success" || took != 8*7*time.Second {
			t.Errorf("%s after %v", kindsOf(outcomes), took)
		}
		f.answer = func(string, *http.Request, int) (int, string, []string) {
			return 503, refusal("HTTPServiceUnavailable", "busy"), []string{"Retry-After", "1"}
		}
		if outcomes, _ := ran(t, f, Push{}, "a"); kindsOf(outcomes) != "a:unasked" {
			t.Errorf("of a server that stays busy: %s", kindsOf(outcomes))
		}
	})
}

// A signal ends the push once the sites that are begun are done: the dry run and the change of each.
func TestPush_interrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{takes: time.Second, answer: func(string, *http.Request, int) (int, string, []string) { return 200, changes, nil }}
		ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer stop()
		outcomes, left := ranIn(ctx, t, f, Push{Parallel: 2}, "a", "b", "c", "d")
		if kindsOf(outcomes) != "a:success b:success" || textOf(left) != ":c,d" || time.Since(f.start) != 2*time.Second {
			t.Errorf("%s, left %s, after %v", kindsOf(outcomes), textOf(left), time.Since(f.start))
		}
	})
}
