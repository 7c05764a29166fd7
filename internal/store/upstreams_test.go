package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// A promotion is stored only with the facts that its source was judged by: else it is judged again.
func TestStore_Append_promotion(t *testing.T) { //nolint:tparallel // see below
	t.Parallel()
	url := storetest.URL(t)
	s, kept := open(t, url), openStore(t, url, defaults())
	put(t, s, "source", widget("s", 1))
	result := validations.Result{Name: "n", Status: validations.Success.String(), Validator: []byte("{}"), Errors: []byte("[]")}
	for _, c := range []struct { //nolint:paralleltest // they change the same revision, in this order
		name    string
		happens func() error
	}{
		{"nothing", func() error { return nil }},
		{"a result", func() error {
			_, _, err := kept.AddResult(t.Context(), revisions.About{Revision: 1}, result)
			return err
		}},
		{"a waiver", func() error {
			_, err := kept.Waive(t.Context(), revisions.About{Revision: 1}, validations.WantedWaiver{
				Validation: "n", Reason: "r", Lasts: time.Hour,
			})
			return err
		}},
		{"the end of a waiver", func() error {
			_, _, _, err := kept.EndWaiver(t.Context(), revisions.About{Revision: 1}, 1)
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			judged := 0
			promotion := func(ctx context.Context) (p revisions.Promotion, err error) {
				p.Site, p.Revision = revisions.DefaultSite, 1
				if p.Stamp, p.Facts, err = kept.Facts(ctx, 1); err == nil && judged == 0 {
					err = c.happens() // after the facts were read
				}
				judged++
				return p, err
			}
			_, err := s.Put(t.Context(), "target", []byte(widget("t", time.Now().Nanosecond())), document.YAML, revisions.Options{
				Copied: revisions.Upstreams{"target": {Site: "x", Revision: 1, Bucket: "source"}}, Promotion: promotion,
			})
			if want := map[bool]int{true: 1, false: 2}[c.name == "nothing"]; err != nil || judged != want {
				t.Errorf("judged %d times, want %d; %v", judged, want, err)
			}
		})
	}
	overdue := func(ctx context.Context) (p revisions.Promotion, err error) {
		p.Site, p.Revision, p.Until = revisions.DefaultSite, 1, time.Now().Add(-time.Hour)
		p.Stamp, p.Facts, err = kept.Facts(ctx, 1)
		return p, err
	}
	_, err := s.Put(t.Context(), "late", []byte(widget("l", 1)), document.YAML, revisions.Options{
		Copied: revisions.Upstreams{"late": {Site: "x", Revision: 1, Bucket: "source"}}, Promotion: overdue,
	})
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("a verdict that has ended: %v", err)
	}
}

// Upstreams change with revisions and without, and a change planned before that is planned again.
func TestStore_upstreams(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, kept := open(t, url), openStore(t, url, defaults())
	from := func(revision int64) revisions.Upstreams {
		return revisions.Upstreams{"b": {Site: "global", Revision: revision, Stamp: revisions.NewStamp().String(), Bucket: "base"}}
	}
	copied := func(body string, upstreams revisions.Upstreams) {
		t.Helper()
		_, err := s.Put(t.Context(), "b", []byte(body), document.YAML, revisions.Options{Copied: upstreams})
		if err != nil {
			t.Fatal(err)
		}
		got, err := kept.Upstreams(t.Context())
		if diff := cmp.Diff(upstreams, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	}
	first, second := from(1), from(2)
	copied(widget("w", 1), first)
	snapshot, err := kept.Snapshot(t.Context(), revisions.Need{})
	if err != nil {
		t.Fatal(err)
	}
	copied(widget("w", 1), second)
	err = kept.Reread(t.Context(), snapshot.Head, revisions.Diff{Refollows: true}, nil)
	if diff := cmp.Diff(revisions.ErrStaleSnapshot.Error(), errText(err)); diff != "" {
		t.Errorf("other upstreams on the base before: %s", diff)
	}
	copied(widget("w", 2), from(3))
	evidence, err := kept.Evidence(t.Context(), []int64{1})
	if err != nil || len(evidence.Revisions) != 1 {
		t.Fatal(evidence.Revisions, err)
	}
	if diff := cmp.Diff(first, evidence.Revisions[0].Upstreams); diff != "" {
		t.Errorf("of the first revision (-want +got)\n%s", diff)
	}
	stamp, _, err := kept.Facts(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if n, known, err := kept.Behind(t.Context(), revisions.Upstream{Revision: 1, Stamp: stamp.String(), Bucket: "b"}, 0); n != 1 ||
		!known || err != nil {
		t.Errorf("behind by a revision that is not looked at: %d %v, %v", n, known, err)
	}
	for _, c := range []struct {
		of    revisions.Upstream
		n     int
		known bool
	}{
		{revisions.Upstream{Revision: 1, Stamp: stamp.String(), Bucket: "b"}, 1, true},
		{revisions.Upstream{Revision: 1, Stamp: stamp.String(), Bucket: "none"}, 0, true},
		{revisions.Upstream{Revision: 1, Stamp: (stamp + 1).String(), Bucket: "b"}, 0, false},
		{revisions.Upstream{Revision: 3, Stamp: stamp.String(), Bucket: "b"}, 0, false},
	} {
		n, known, err := kept.Behind(t.Context(), c.of, 5)
		if n != c.n || known != c.known || err != nil {
			t.Errorf("behind %v: %d %v, %v", c.of, n, known, err)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
