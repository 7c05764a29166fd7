package api_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"purser/api"
	"purser/internal/queries"
	"purser/internal/revisions"
)

// callersAudit notes the functions of this package that called it, the innermost first.
type callersAudit struct {
	queries.Audit

	callers []string
}

// AuditEvents implements queries.Audit.
func (a *callersAudit) AuditEvents(context.Context, queries.AuditQuery) ([]revisions.AuditEvent, bool, error) {
	counters := make([]uintptr, 100)
	frames := runtime.CallersFrames(counters[:runtime.Callers(1, counters)])
	for more := true; more; {
		var frame runtime.Frame
		if frame, more = frames.Next(); strings.HasPrefix(frame.Function, "purser/api.") {
			a.callers = append(a.callers, strings.TrimPrefix(frame.Function, "purser/api."))
		}
	}
	return nil, false, nil
}

// A request passes at most six frames of this package before its handler. Those of chi and of net/http do not count.
func TestServe_frames(t *testing.T) {
	t.Parallel()
	audit := new(callersAudit)
	s := newSite(t, func(config *api.Config) { config.Audit = audit })
	s.get(t, "audit").is(t, http.StatusOK)
	const handler = "(*server).listAudit"
	if len(audit.callers) == 0 || audit.callers[0] != handler {
		t.Fatalf("the callers are %q, want %s first", audit.callers, handler)
	}
	if before := audit.callers[1:]; len(before) < 3 || len(before) > 6 {
		t.Errorf("%d frames before the handler: %q", len(before), before)
	}
}
