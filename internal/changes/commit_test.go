package changes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

func TestNewCommit_revision(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "p", validationPolicy(validations.PolicyValidation)+layeringPolicy("lp"))
	event := &revisions.AuditEvent{UserID: "me"}
	options := revisions.Options{Reason: revisions.Reason{User: "me", Message: "because"}, Audit: event}
	written, err := s.Put(t.Context(), "a", []byte(widget("w1", "{}")), document.YAML, options)
	if err != nil {
		t.Fatal(err)
	}
	want := revisions.Revision{
		ID: 2, CreatedAt: at(), Kind: revisions.Put, Buckets: []string{"a"}, Reason: options.Reason, Entries: 1,
	}
	commit := m.commits[1]
	if diff := cmp.Diff(want, commit.Revision); diff != "" {
		t.Errorf("revision (-want +got)\n%s", diff)
	}
	if len(commit.Results) != 1 || commit.Results[0].CreatedAt != at() {
		t.Errorf("results %+v, want one of the revision's time", commit.Results)
	}
	if commit.Audit != event || !written.Audited || !written.Changed || written.RevisionStatus.ID != 2 {
		t.Errorf("audit %v, written %+v", commit.Audit, written)
	}
}

// A change is planned again if its bucket was changed first, and keeps its decoded documents.
func TestService_Put_again(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "a", widget("w1", "{x: 1}")+widget("w2", "{x: 1}"))
	m.before = func() { put(t, s, "a", widget("w2", "{x: 2}")) }
	written := func() (w Written) {
		synctest.Test(t, func(t *testing.T) {
			other, _ := service()
			other.Store = m
			w = put(t, other, "a", widget("w1", "{x: 3}"))
		})
		return w
	}()
	if written.Revision != 3 || len(m.commits) != 4 {
		t.Errorf("revision %d by %d commits, want 3 by the fourth", written.Revision, len(m.commits))
	}
	want := []string{`a acme/Widget/v1 w1 {"x":3}`}
	if diff := cmp.Diff(want, m.shown()); diff != "" {
		t.Errorf("documents (-want +got)\n%s", diff)
	}
}

// moving is a site on which another change always comes first.
type moving struct{ *memory }

func (moving) Append(context.Context, revisions.Commit) (revisions.Commit, error) {
	return revisions.Commit{}, fmt.Errorf("append: %w", revisions.ErrStaleSnapshot)
}

func TestService_Put_neverFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, m := service()
		s.Store = moving{m}
		_, err := s.Put(t.Context(), "a", []byte(widget("w1", "{}")), document.YAML, revisions.Options{})
		wantFault(t, err, fault.Conflict, "Other changes came first 60 times in a row")
		if f := new(fault.Fault); !errors.As(err, &f) || f.RetryAfter != time.Second {
			t.Errorf("error %#v, want one that may be tried again", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
		defer cancel()
		_, err = s.Put(ctx, "a", []byte(widget("w1", "{}")), document.YAML, revisions.Options{})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v after the client went away", err)
		}
		if len(s.writes) != 1 {
			t.Error("the turn to write was not given back")
		}
	})
}

// Contents are packed before the write lock is taken, and the memory of a commit that is too late is released.
func TestService_Put_packed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, m := service()
		put(t, s, "a", widget("w1", "{x: 1}"))
		added := m.commits[0]
		if body := added.Packed[added.Diff.Added[0].Digest]; string(body) != `{"x":1}` {
			t.Errorf("packed %q", body)
		}
		s.Store = moving{m}
		ctx, end := budget.NewPool(1, time.Hour).Begin(t.Context())
		defer end()
		const size = 1 << 20
		_, err := s.Put(ctx, "a", []byte(widget("w1", strings.Repeat("x", size))), document.YAML, revisions.Options{})
		wantFault(t, err, fault.Conflict, "Other changes came first")
		if _, held := budget.From(ctx).Spent(); held > 10*size {
			t.Errorf("%d bytes held after a change that came too late each time", held)
		}
	})
}

// A dry run is planned once, stores nothing, and does not wait for the write lock.
func TestService_Put_dryRun(t *testing.T) {
	t.Parallel()
	s, m := service()
	<-s.writes
	written, err := s.Put(t.Context(), "a", []byte(widget("w1", "{}")), document.YAML, revisions.Options{DryRun: true})
	if err != nil || written.Preview == nil || written.Changed || len(m.commits) != 0 {
		t.Errorf("written %+v, %v, %d commits", written, err, len(m.commits))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Put(ctx, "a", []byte(widget("w1", "{}")), document.YAML, revisions.Options{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v while waiting for the turn", err)
	}
}

// New documents in a cached bucket cost one read of the site, unless they govern others.
func TestService_Put_snapshots(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "a", widget("w1", "{x: 1}")+widget("w2", "{x: 1}"))
	for _, c := range []struct {
		name string
		body string
		want int
	}{
		{"one changed", widget("w1", "{x: 2}") + widget("w2", "{x: 1}"), 1},
		{"nothing changed", widget("w1", "{x: 2}") + widget("w2", "{x: 1}"), 1},
		{"one removed, which nothing that was decoded showed", widget("w1", "{x: 2}"), 2},
		{"a DataSchema, then what it governs, then what is known of that", widget("w1", "{x: 2}") + dataSchema("integer"), 3},
	} {
		m.needs = nil
		put(t, s, "a", c.body)
		if len(m.needs) != c.want {
			t.Errorf("%s: %d snapshots, want %d", c.name, len(m.needs), c.want)
		}
	}
}

// OnPlanned sees the new versions of a change, ends before the change does, and cannot make it fail.
func TestService_Put_onPlanned(t *testing.T) {
	t.Parallel()
	s, _ := service()
	put(t, s, "a", widget("w1", "{}"))
	var seen []*revisions.Stored
	options := revisions.Options{OnPlanned: func(documents []*revisions.Stored) {
		seen = documents
		panic("oops")
	}}
	written, err := s.Put(t.Context(), "a", []byte(widget("w1", "{}")+widget("w2", "{}")), document.YAML, options)
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || len(written.Documents) != 2 || seen[0] != written.Documents[1] {
		t.Errorf("saw %v, of %v", seen, written.Documents)
	}
}
