package queries

import (
	"strings"
	"testing"

	"purser/internal/fault"
	"purser/internal/revisions"
)

func TestService_Resolve(t *testing.T) {
	t.Parallel()
	s := service(&site{revisions: make([]revisions.Revision, 7), tags: map[string]int64{"good": 3, "": 2}})
	for id, want := range map[string]int64{
		"latest": 7, "tag:good": 3, "tag:": 2, "tag:bad": 0, "5": 5, "99": 99, "0": 0, "-1": 0, "+1": 0, "01": 0, "": 0, "1.0": 0,
		"9223372036854775807": 9223372036854775807, "9223372036854775808": 0, "LATEST": 0, "0x1": 0,
	} {
		got, err := s.Resolve(t.Context(), id)
		if got != want || (want == 0) != (fault.KindOf(err) == fault.NotFound && err != nil) {
			t.Errorf("%q: %d, %v; want %d", id, got, err, want)
		}
	}
	_, err := service(&site{}).Resolve(t.Context(), "latest")
	if err == nil || !strings.Contains(err.Error(), "The requested revision=latest was not found: there is no revision yet") {
		t.Errorf("latest of nothing: %v", err)
	}
	if _, err = service(&site{}).Status(t.Context(), "latest"); err == nil || !strings.Contains(err.Error(), "there is no revision yet") {
		t.Errorf("the status of nothing: %v", err)
	}
	_, err = s.Resolve(t.Context(), strings.Repeat("é", 100))
	if err == nil || len(err.Error()) > 200 || !strings.Contains(err.Error(), "…") {
		t.Errorf("a long name: %v", err)
	}
}

func TestIsRevision(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"latest": true, "tag:x": true, "tag:": true, "1": true, "-5": true, "99999999999999999999": true, "": false,
		"x": false, "1.5": false, "newest": false, "tag": false,
	} {
		if got := IsRevision(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}
