package e2e_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestVerdict_expiry(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.put(t, "mop", policy("ready", "{name: a-validation, expiresAfter: PT2S}", "{name: b-validation, expiresAfter: P1Y2M3DT4H}",
		"{name: "+own+", expiresAfter: PT1S}"))
	s.report(t, 1, "b-validation", "success")
	good := "success; ready: a-validation=success b-validation=success " + own + "=success"
	isGood := func() bool { // true for two seconds
		s.report(t, 1, "a-validation", "success")
		return s.verdict(t, "1") == good
	}
	eventually(t, good, isGood)
	entry := s.get(t, "revisions/1/validations/a-validation/entries/0").mapping(t)
	at := func(key string) time.Time {
		text, _ := entry[key].(string)
		moment, err := time.Parse("2006-01-02T15:04:05.000000", text)
		if err != nil {
			t.Fatalf("%s is %v", key, entry[key])
		}
		return moment
	}
	if diff := cmp.Diff([]any{"PT2S", 2 * time.Second}, []any{entry["expiresAfter"], at("expiresAt").Sub(at("createdAt"))}); diff != "" {
		t.Errorf("expiresAfter, and expiresAt after createdAt (-want +got):\n%s", diff)
	}
	bad := "failure; ready: a-validation=expired b-validation=success " + own + "=success"
	eventually(t, bad, func() bool { return s.verdict(t, "1") == bad })
	if got := s.get(t, "revisions/1/status", "Accept", "text/plain").text; got != "failure\na-validation: expired (policy ready)\n" {
		t.Errorf("status %q", got)
	}
	eventually(t, good, isGood)
}
