package claims_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/claims"
)

// Work goes to workers in the order in which they ask: the newest revision's first, then by the order of their names.
func TestAssign(t *testing.T) {
	t.Parallel()
	work := func(places ...string) (all []claims.Work) {
		for _, place := range places {
			w := claims.Work{State: claims.Open}
			_, _ = fmt.Sscanf(strings.ReplaceAll(place, "/", " "), "%d %s", &w.Revision, &w.Validation)
			if name, lapsed := strings.CutSuffix(w.Validation, "!"); lapsed {
				w.Validation, w.State, w.Attempt, w.Worker = name, claims.Lapsed, claims.MaxAttempts, "w"
			}
			all = append(all, w)
		}
		return all
	}
	for name, c := range map[string]struct {
		work []claims.Work
		asks string // names of each, separated by semicolons
		want []string
	}{
		"no work":                    {nil, "a", nil},
		"other work":                 {work("1/b"), "a", nil},
		"the newest revision first":  {work("3/b", "2/a"), "a,b", []string{"0 3/b"}},
		"then the order of names":    {work("3/a", "3/b"), "b,a", []string{"0 3/b"}},
		"in the order of asking":     {work("3/a", "2/a"), "a;a;a", []string{"0 3/a", "1 2/a"}},
		"what others leave":          {work("3/a", "3/b", "2/b"), "a;a,b;b", []string{"0 3/a", "1 3/b", "2 2/b"}},
		"the server, then a worker":  {work("3/a!", "2/a"), "a", []string{"-1 3/a", "0 2/a"}},
		"the server alone":           {work("3/a!"), "b;a;a", []string{"-1 3/a"}},
		"nothing that nobody awaits": {work("3/a!", "3/b"), "b", []string{"0 3/b"}},
	} {
		var asks []claims.Ask
		for names := range strings.SplitSeq(c.asks, ";") {
			asks = append(asks, claims.Ask{Names: strings.Split(names, ",")})
		}
		var got []string
		for _, a := range claims.Assign(c.work, asks) {
			got = append(got, fmt.Sprintf("%d %d/%s", a.Of, a.Revision, a.Validation))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The server's failure says who was last; if its own claim ran out, the next one says the same.
func TestAssign_abandoned(t *testing.T) {
	t.Parallel()
	w := claims.Work{
		Revision: 1, Validation: "a", State: claims.Lapsed, Attempt: 3, Worker: "host:7", User: "anna",
		Since: time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC),
	}
	asks := []claims.Ask{{Names: []string{"a"}}}
	first := claims.Assign([]claims.Work{w}, asks)[0]
	const want = `[{"message":"3 claims to this work ran out without a result; the last one was that of host:7 of anna ` +
		`since 2026-11-26T10:00:00Z; ask for a new result to have others try"}]`
	if got := string(first.Failure().Errors); got != want || first.Ask.Worker != claims.Server {
		t.Errorf("the failure of %s: %s", first.Ask.Worker, got)
	}
	w.Worker, w.User, w.Attempt, w.Progress = claims.Server, "", 4, first.Progress
	if got := string(claims.Assign([]claims.Work{w}, asks)[0].Failure().Errors); got != want {
		t.Errorf("the second failure: %s", got)
	}
	w.Attempt = 2
	if got := claims.Assign([]claims.Work{w}, asks)[0]; got.Of != 0 {
		t.Errorf("after two claims: %+v", got)
	}
}

func TestParseToken(t *testing.T) {
	t.Parallel()
	for range 100 {
		if _, err := claims.ParseToken(string(claims.NewToken())); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"", "x", strings.ToUpper(string(claims.NewToken())), " " + string(claims.NewToken())} {
		if _, err := claims.ParseToken(text); err == nil {
			t.Errorf("%q is a token", text)
		}
	}
}
