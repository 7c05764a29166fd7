package web

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/wire"
)

// Of a validation in several policies, the status counts that asks for most.
func TestRequirementsOf(t *testing.T) {
	t.Parallel()
	var (
		inapplicable = wire.Validation{Name: "v", Status: "not-applicable"}
		good         = wire.Validation{Name: "v", Status: "success"}
		advice       = wire.Validation{Name: "v", Status: "failure", Advisory: true}
		waived       = wire.Validation{Name: "v", Status: "failure", Waived: &wire.Waived{Reason: "r"}}
		missing      = wire.Validation{Name: "v", Status: "missing"}
	)
	order := []wire.Validation{inapplicable, good, advice, waived, missing}
	for i, more := range order {
		for _, less := range order[:i+1] {
			for _, pair := range [][2]wire.Validation{{less, more}, {more, less}} {
				status := wire.Verdict{Policies: []wire.Policy{
					{Name: "p", Validations: pair[:1]}, {Name: "q", Validations: pair[1:]},
				}}
				want := []requirement{{Validation: more, Policies: []string{"p", "q"}}}
				if diff := cmp.Diff(want, requirementsOf(status), cmp.AllowUnexported(requirement{})); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			}
		}
	}
	revision := wire.Revision{Policies: []wire.Policy{{Validations: []wire.Validation{waived, good}}, {Validations: []wire.Validation{waived}}}}
	if got := waivedIn(revision); len(got) != 1 || got[0] != (wire.Waived{Validation: "v", Status: "failure", Reason: "r"}) {
		t.Errorf("waived: %v", got)
	}
}

func TestOffers_Acts(t *testing.T) {
	t.Parallel()
	for want, may := range map[string]offers{
		"": {Post: true}, "Waive": {Waive: true}, "Approve or reject": {Vote: true}, "Approve, reject or waive": {Vote: true, Waive: true},
		"Approve, reject, ask again or waive": {Vote: true, Ask: true, Waive: true},
	} {
		if got := may.Acts(); got != want {
			t.Errorf("%+v: %q, want %q", may, got, want)
		}
	}
}

func TestHostOf(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"https://ci.example/runs/1": "ci.example", "http://ci.example:8080": "ci.example:8080", "": "", "//ci.example": "",
		"javascript:alert(1)": "", "ftp://ci.example": "", "https://[": "",
	} {
		if got := hostOf(page); got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

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
