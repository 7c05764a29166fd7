package web

import (
	"testing"
	"time"

	"purser/internal/wire"
)

func TestWhen(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	for at, want := range map[wire.Optional]string{
		"": "", "2026-03-31T11:59:01.000000": "now", "2026-03-31T11:59:00.000000": "1 minute ago",
		"2026-03-31T11:00:00.000000": "1 hour ago", "2026-03-31T14:30:00.000000": "in 2 hours",
		"2026-03-29T12:00:00.000000": "2 days ago", "2026-01-31T12:00:00.000000": "2026-01-31",
	} {
		got := when(at, now)
		if got == nil {
			got = &moment{}
		}
		if got.Relative != want || at != "" && got.Human != string(at[:10])+" "+string(at[11:19])+" UTC" {
			t.Errorf("%s is %+v, want %q", at, got, want)
		}
	}
}
