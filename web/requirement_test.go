package web

import (
	"testing"
	"time"

	"purser/internal/wire"
)

// TestPosterOf checks that a result is attributed to its poster, or to nobody if the audit does not have it.
func TestPosterOf(t *testing.T) {
	t.Parallel()
	event := func(user string, at wire.Optional, target string, status int) wire.AuditEvent {
		e := wire.AuditEvent{At: at, Rule: "deckhand:create_validation", Target: target, Status: status}
		e.User.ID = user
		return e
	}
	const path, name = "/api/v1.0/revisions/2/validations/a%2Fb", "a/b"
	events := []wire.AuditEvent{
		event("refused", "2026-01-31T12:00:01.000000", path, 400), event("other", "2026-01-31T12:00:00.500000", path+"c", 201),
		event("second", "2026-01-31T12:00:00.000000", path+"?revision-stamp=1", 201), event("first", "2026-01-31T11:00:00.000000", path, 201),
	}
	for created, want := range map[wire.Optional]string{
		"2026-01-31T12:00:00.000100": "second", "2026-01-31T11:00:30.000000": "first",
		"2026-01-31T12:30:00.000000": "", "2026-01-30T12:00:00.000000": "", "": "",
	} {
		if got := posterOf(events, name, created); got != want {
			t.Errorf("the result of %q is of %q, want %q", created, got, want)
		}
	}
}

func TestExpiringNext(t *testing.T) {
	t.Parallel()
	at := func(name string, expires wire.Optional) requirement {
		return requirement{Name: name, Newest: wire.Newest{ExpiresAt: expires}}
	}
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	all := []requirement{
		at("never", ""), at("passed", "2026-01-31T11:00:00.000000"), at("later", "2026-02-01T00:00:00.000000"),
		at("next", "2026-01-31T12:00:01.000000"), at("last", "2026-03-01T00:00:00.000000"),
	}
	if next := expiringNext(all, now); next == nil || next.Name != "next" {
		t.Errorf("next is %v", next)
	}
	if next := expiringNext(all[:2], now); next != nil {
		t.Errorf("next is %v", next)
	}
}
