package web

import (
	"testing"
	"time"

	"purser/internal/wire"
)

func TestExpiringNext(t *testing.T) {
	t.Parallel()
	at := func(name string, expires wire.Optional) requirement {
		return requirement{Validation: wire.Validation{Name: name}, Newest: wire.Newest{ExpiresAt: expires}}
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
