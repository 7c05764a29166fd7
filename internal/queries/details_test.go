package queries_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// A result is attributed to its poster, or to nobody if the audit does not have it.
func TestPosters(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	event := func(user string, at time.Duration, target string, status int) revisions.AuditEvent {
		return revisions.AuditEvent{
			UserID: user, At: noon.Add(at), Rule: authz.CreateValidation, Target: target, Status: status,
		}
	}
	const path, name = "/api/v1.0/revisions/2/validations/a%2Fb", "a/b"
	tagged := event("tagged", 0, path, 201)
	tagged.Rule = authz.CreateTag
	audit := []revisions.AuditEvent{
		event("refused", time.Second, path, 400), event("other", time.Second/2, path+"c", 201), tagged,
		event("second", 0, path+"?revision-stamp=1", 201), event("first", -time.Hour, path, 201),
		event("broken", 0, "%", 201),
	}
	for created, want := range map[string]string{"100us": "second", "-59m30s": "first", "30m": "", "-24h": ""} {
		after, err := time.ParseDuration(created)
		if err != nil {
			t.Fatal(err)
		}
		newest := map[string]validations.Entry{name: {CreatedAt: noon.Add(after)}, "unposted": {}}
		got := queries.Posters(newest, audit)
		if diff := cmp.Diff(want, got[name].UserID); diff != "" || len(got) > 1 {
			t.Errorf("the result of %s (-want +got):\n%s%v", created, diff, got)
		}
	}
}
