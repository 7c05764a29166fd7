package vault

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// answer is what Vault says about a token: its time in seconds, whether it is renewable, and a status.
type answer struct {
	left, status int
	renewable    bool
}

// A token is renewed when half of its time is over, at bounded intervals. What is wrong is logged once.
//
//nolint:paralleltest // Vault's client is configured by the environment
func TestKey_KeepToken(t *testing.T) {
	const lookUp, renew = "GET /v1/auth/token/lookup-self", "PUT /v1/auth/token/renew-self"
	for name, c := range map[string]struct {
		answers []answer // to the requests; the last one to all others
		asked   []string
		waits   []time.Duration
		logged  []string
	}{
		"renewed": {
			[]answer{{600, 200, true}, {1200, 200, true}},
			[]string{lookUp, renew, lookUp, renew, lookUp, renew},
			[]time.Duration{10 * time.Minute, 10 * time.Minute, 10 * time.Minute},
			nil,
		},
		"a long one and a short one": {
			[]answer{{86400, 200, true}, {86400, 200, true}, {43200, 200, true}, {8, 200, true}},
			[]string{lookUp, renew, lookUp, renew, lookUp, renew},
			[]time.Duration{time.Hour, 10 * time.Second, 10 * time.Second},
			nil,
		},
		"one that does not end": {
			[]answer{{0, 200, false}}, []string{lookUp, lookUp, lookUp}, []time.Duration{time.Hour, time.Hour, time.Hour}, nil,
		},
		"one that is not renewable": {
			[]answer{{600, 200, false}},
			[]string{lookUp, lookUp, lookUp},
			[]time.Duration{5 * time.Minute, 5 * time.Minute, 5 * time.Minute},
			[]string{"ERROR vault token create -period=24h"},
		},
		"ended, and replaced": {
			[]answer{{0, 403, false}, {0, 403, false}, {600, 200, true}, {600, 200, true}},
			[]string{lookUp, lookUp, lookUp, renew},
			[]time.Duration{time.Minute, time.Minute, 5 * time.Minute},
			[]string{"ERROR permission denied", "INFO renewed again"},
		},
		"without the right": {
			[]answer{{600, 200, true}, {0, 403, false}, {600, 200, true}, {0, 403, false}, {600, 200, true}, {0, 403, false}},
			[]string{lookUp, renew, lookUp, renew, lookUp, renew},
			[]time.Duration{time.Minute, time.Minute, time.Minute},
			[]string{"ERROR renew it: "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			uri, v := start(t)
			var asked []string
			v.token = func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				a := c.answers[min(len(asked), len(c.answers)-1)]
				asked = append(asked, r.Method+" "+r.URL.Path)
				w.WriteHeader(a.status)
				switch {
				case a.status != http.StatusOK:
					_, _ = io.WriteString(w, `{"errors": ["permission denied"]}`)
				case r.Method == http.MethodGet:
					_, _ = fmt.Fprintf(w, `{"data": {"ttl": %d, "renewable": %t}}`, a.left, a.renewable)
				default:
					_, _ = fmt.Fprintf(w, `{"auth": {"client_token": "s.token", "lease_duration": %d, "renewable": true}}`, a.left)
				}
			}
			key, err := Open(uri, "")
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			var waits []time.Duration
			var log bytes.Buffer
			key.KeepToken(ctx, slog.New(slog.NewTextHandler(&log, nil)), func(wait time.Duration) <-chan time.Time {
				if waits = append(waits, wait); len(waits) == 3 {
					stop()
					return nil
				}
				now := make(chan time.Time, 1)
				now <- time.Time{}
				return now
			})
			if diff := cmp.Diff(c.waits, waits); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.asked, asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			lines := strings.Split(strings.TrimSpace(log.String()), "\n")
			for i, want := range c.logged {
				level, text, _ := strings.Cut(want, " ")
				if i >= len(lines) || !strings.Contains(lines[i], "level="+level) || !strings.Contains(lines[i], text) {
					t.Errorf("logged %s, want %s", lines, want)
				}
			}
			if len(c.logged) != strings.Count(log.String(), "\n") || strings.Contains(log.String(), "s.token") {
				t.Errorf("logged %s", lines)
			}
		})
	}
}
