package changes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/revisions/revisionstest"
)

// planned is a Diff as the tables write it.
type planned struct {
	Added, Removed, Result, Opened, Emptied, Buckets []string
	Changes                                          bool
}

func plannedOf(d revisions.Diff) planned {
	return planned{
		revisionstest.Names(d.Added), revisionstest.Names(d.Removed), revisionstest.Names(d.Result), d.Opened,
		d.Emptied, d.Buckets, d.Changes,
	}
}

// planning is a payload for a site that was filled before.
type planning struct {
	name    string
	buckets []string // alternating buckets of the site and their bodies
	bucket  string   // the bucket of the PUT; "" for a change set
	named   []string // buckets that the change set names
	body    string
	compat  bool
}

// run plans the payload.
func (p planning) run(t tester) (revisions.Diff, error) {
	t.Helper()
	s, _ := service()
	for pair := range slices.Chunk(p.buckets, 2) {
		put(t, s, pair[0], pair[1])
	}
	if p.bucket != "" {
		p.named = []string{p.bucket}
	}
	made := payload(t, s, p.bucket, p.body, p.named...)
	return made.plan(needed(t, s, made), p.compat)
}

func TestPayload_plan(t *testing.T) {
	t.Parallel()
	w1, w2 := widget("w1", "{x: 1}"), widget("w2", "{x: 2}")
	filled := []string{"a", w1 + w2}
	for _, c := range []struct {
		planning

		want planned
	}{
		{planning{name: "new documents open their bucket", bucket: "a", body: w1 + w2}, planned{
			Added: []string{"a/w1#1@1", "a/w2#2@2"}, Result: []string{"a/w1#1@1", "a/w2#2@2"}, Opened: []string{"a"},
			Buckets: []string{"a"}, Changes: true,
		}},
		{planning{name: "the same text", buckets: filled, bucket: "a", body: w1 + w2}, planned{
			Result: []string{"a/w1#1@1", "a/w2#2@2"},
		}},
		{planning{
			name: "the same contents in another order and writing", buckets: filled, bucket: "a",
			body: w2 + "# again\n" + widget("w1", "{\"x\":   1}"),
		}, planned{
			Result: []string{"a/w2#2@2", "a/w1#1@1"},
		}},
		{
			planning{name: "changed data keeps its place", buckets: filled, bucket: "a", body: widget("w1", "{x: 3}") + w2},
			planned{
				Added: []string{"a/w1#3@1"}, Removed: []string{"a/w1#1@1"}, Result: []string{"a/w1#3@1", "a/w2#2@2"},
				Buckets: []string{"a"}, Changes: true,
			},
		},
		{planning{
			name: "changed metadata keeps its place", buckets: filled, bucket: "a",
			body: w1 + widget("w2", "{x: 2}", "labels: {k: v}"),
		}, planned{
			Added: []string{"a/w2#3@2"}, Removed: []string{"a/w2#2@2"}, Result: []string{"a/w1#1@1", "a/w2#3@2"},
			Buckets: []string{"a"}, Changes: true,
		}},
		{planning{name: "left out", buckets: filled, bucket: "a", body: w2}, planned{
			Removed: []string{"a/w1#1@1"}, Result: []string{"a/w2#2@2"}, Buckets: []string{"a"}, Changes: true,
		}},
		{planning{name: "nothing left", buckets: filled, bucket: "a"}, planned{
			Removed: []string{"a/w1#1@1", "a/w2#2@2"}, Emptied: []string{"a"}, Buckets: []string{"a"}, Changes: true,
		}},
		{planning{name: "nothing for a bucket that has nothing", buckets: filled, bucket: "b"}, planned{}},
		{planning{
			name: "moved within a change set", buckets: []string{"a", w1, "b", w2},
			body: inBucket("b", w1) + inBucket("a", w2),
		}, planned{
			Added: []string{"b/w1#3@1", "a/w2#4@2"}, Removed: []string{"a/w1#1@1", "b/w2#2@2"},
			Result: []string{"b/w1#3@1", "a/w2#4@2"}, Buckets: []string{"a", "b"}, Changes: true,
		}},
		{planning{
			name: "moved into a bucket that opens, out of one that is named", buckets: []string{"a", w1},
			named: []string{"a"}, body: inBucket("b", w1),
		}, planned{
			Added: []string{"b/w1#2@1"}, Removed: []string{"a/w1#1@1"}, Result: []string{"b/w1#2@1"},
			Opened: []string{"b"}, Emptied: []string{"a"}, Buckets: []string{"a", "b"}, Changes: true,
		}},
		{planning{name: "other buckets stay", buckets: []string{"a", w1, "b", w2}, named: []string{"a"}}, planned{
			Removed: []string{"a/w1#1@1"}, Emptied: []string{"a"}, Buckets: []string{"a"}, Changes: true,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			diff, err := c.run(t)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, plannedOf(diff)); diff != "" {
				t.Errorf("plan (-want +got)\n%s", diff)
			}
			if diff.Result == nil {
				t.Error("the result is nil, as that of a rollback")
			}
		})
	}
}

// In compat mode a PUT makes a revision that names its buckets even if it changes nothing, unless it empties a bucket
// that never existed.
func TestPayload_plan_compat(t *testing.T) {
	t.Parallel()
	w1 := widget("w1", "{x: 1}")
	for _, c := range []struct {
		planning

		want bool
	}{
		{planning{name: "same", buckets: []string{"a", w1}, bucket: "a", body: w1}, true},
		{planning{name: "emptied twice", buckets: []string{"a", w1, "a", ""}, bucket: "a"}, true},
		{planning{name: "never filled", buckets: []string{"a", w1}, bucket: "b"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.compat = true
			diff, err := c.run(t)
			if err != nil {
				t.Fatal(err)
			}
			want := planned{Result: revisionstest.Names(diff.Result), Buckets: []string{c.bucket}, Changes: c.want}
			if diff := cmp.Diff(want, plannedOf(diff)); diff != "" {
				t.Errorf("plan (-want +got)\n%s", diff)
			}
		})
	}
}

func TestPayload_plan_conflicts(t *testing.T) {
	t.Parallel()
	w1, other, policy := widget("w1", "{x: 1}"), widget("w1", "{x: 2}"), layeringPolicy("lp")
	const twice = "[acme/Widget/v1, site] w1 already exists in bucket: "
	const second = "A singleton document [deckhand/LayeringPolicy/v1, None] lp already exists in the system. " +
		"The new document(s) "
	for _, c := range []struct {
		planning

		want string
	}{
		{planning{name: "twice in a body", bucket: "a", body: w1 + w1}, twice + "a"},
		{planning{name: "twice with other data", bucket: "a", body: w1 + other}, twice + "a"},
		{planning{name: "known twice", buckets: []string{"a", w1}, bucket: "a", body: w1 + w1}, twice + "a"},
		{planning{name: "known and changed", buckets: []string{"a", w1}, bucket: "a", body: w1 + other}, twice + "a"},
		{planning{name: "in two buckets of a change set", body: inBucket("a", w1) + inBucket("b", w1)}, twice + "a"},
		{planning{name: "live elsewhere", buckets: []string{"b", w1}, bucket: "a", body: other}, twice + "b"},
		{planning{
			name: "live in a bucket that the change set leaves alone", buckets: []string{"c", w1},
			body: inBucket("a", w1) + inBucket("b", widget("w2", "{}")),
		}, twice + "c"},
		{
			planning{name: "second policy elsewhere", buckets: []string{"b", policy}, bucket: "a", body: layeringPolicy("new")},
			second + "[deckhand/LayeringPolicy/v1, None] new cannot be created",
		},
		{
			planning{
				name: "second policy in its bucket", buckets: []string{"a", policy}, bucket: "a",
				body: policy + layeringPolicy("n1") + layeringPolicy("n2"),
			},
			second + "[deckhand/LayeringPolicy/v1, None] n1, [deckhand/LayeringPolicy/v1, None] n2 cannot",
		},
		{
			planning{name: "policy renamed", buckets: []string{"a", policy}, bucket: "a", body: layeringPolicy("new")},
			second + "[deckhand/LayeringPolicy/v1, None] new",
		},
		{
			planning{name: "two policies at once", bucket: "a", body: policy + layeringPolicy("new")},
			second + "[deckhand/LayeringPolicy/v1, None] new",
		},
		{
			planning{
				name: "policy of another version", buckets: []string{"b", policy}, bucket: "a",
				body: strings.Replace(policy, "Policy/v1", "Policy/v2", 1),
			},
			second + "[deckhand/LayeringPolicy/v2, None] lp",
		},
		{
			planning{name: "same policy elsewhere", buckets: []string{"b", policy}, bucket: "a", body: policy},
			"[deckhand/LayeringPolicy/v1, None] lp already exists in bucket: b",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := c.run(t)
			wantFault(t, err, fault.Conflict, c.want)
		})
	}
}

// The hint about a second LayeringPolicy names the document, where the other one is, and what to do.
func TestPayload_plan_secondPolicyHint(t *testing.T) {
	t.Parallel()
	first, second := layeringPolicy("lp"), layeringPolicy("new")
	keep := func(bucket string) string {
		return ": A site has one LayeringPolicy, and the one in bucket " + bucket + " is it. Keep its name and change its data, " +
			"or push bucket " + bucket + " without it first."
	}
	const remove = ": A site has one LayeringPolicy, and [deckhand/LayeringPolicy/v1, None] lp is in the same change. Remove one of them."
	line := strings.Count(first, "\n") + 1
	for _, c := range []struct {
		planning

		want string
	}{
		{planning{name: "renamed", buckets: []string{"a", first}, bucket: "a", body: second}, "document 1 (from line 1)" + keep("a")},
		{planning{name: "elsewhere", buckets: []string{"b", first}, bucket: "a", body: second}, "document 1 (from line 1)" + keep("b")},
		{planning{name: "at once", bucket: "a", body: first + second}, fmt.Sprintf("document 2 (from line %d)", line) + remove},
		{planning{name: "beside it", buckets: []string{"a", first}, bucket: "a", body: first + second}, fmt.Sprintf("document 2 (from line %d)", line) + remove},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := c.run(t)
			refused, ok := errors.AsType[*fault.Fault](err)
			if !ok || len(refused.Messages) != 2 {
				t.Fatalf("%#v", err)
			}
			if diff := cmp.Diff(c.want, refused.Messages[1].Message); diff != "" {
				t.Errorf("hint (-want +got):\n%s", diff)
			}
		})
	}
}

// A LayeringPolicy may be changed, moved, and joined by other documents.
func TestPayload_plan_policyStays(t *testing.T) {
	t.Parallel()
	policy := layeringPolicy("lp")
	for _, c := range []planning{
		{name: "joined", buckets: []string{"a", policy}, bucket: "a", body: policy + widget("w1", "{}")},
		{name: "joined elsewhere", buckets: []string{"a", policy}, bucket: "b", body: widget("w1", "{}")},
		{
			name: "changed", buckets: []string{"a", policy}, bucket: "a",
			body: control("deckhand/LayeringPolicy/v1", "lp", "{layerOrder: [site]}") + widget("w1", "{}"),
		},
		{name: "moved", buckets: []string{"a", policy}, named: []string{"a"}, body: inBucket("b", policy)},
		{name: "removed", buckets: []string{"a", policy}, bucket: "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := c.run(t); err != nil {
				t.Errorf("plan: %v", err)
			}
		})
	}
}

// A new text with the content of the stored document replaces its text, so that it is not decoded next time; its notes
// are reported again.
func TestPayload_plan_reread(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "a", widget("w1", "{x: 1}"))
	before := m.live[0]
	p := payload(t, s, "a", widget("w1", "{x: 2, x: 1}"), "a")
	diff, err := p.plan(needed(t, s, p), false)
	if err != nil {
		t.Fatal(err)
	}
	got := diff.Result[0]
	if diff.Changes || got == before || got.ID != before.ID || got.Segment != p.Items[0].Segment.Digest {
		t.Errorf("the document is %+v, want that of id %d with the text's digest", got, before.ID)
	}
	if len(got.Notes) != 1 || len(before.Notes) != 0 {
		t.Errorf("notes %v, and %v of the stored document, want one and none", got.Notes, before.Notes)
	}
	put(t, s, "a", widget("w1", "{x: 2, x: 1}"))
	if p = payload(t, s, "a", widget("w1", "{x: 2, x: 1}"), "a"); p.undecoded() != 1 {
		t.Error("the text was decoded again")
	}
	if p.need().Identities != nil || p.need().Evidence {
		t.Errorf("need %+v of a payload that is known, want its bucket alone", p.need())
	}
}

// A document is known by the whole text that its meaning depends on.
func TestPayload_plan_sharedText(t *testing.T) {
	t.Parallel()
	s, _ := service()
	put(t, s, "a", "%TAG ! x\n"+widget("w1", "{x: 1}"))
	if p := payload(t, s, "a", "%TAG ! y\n"+widget("w1", "{x: 1}"), "a"); p.undecoded() != 0 {
		t.Fatal("a text under another directive is known")
	}
	p := payload(t, s, "a", "%TAG ! x\n"+widget("w1", "{x: 1}"), "a")
	if p.undecoded() != 1 {
		t.Fatal("a text under a directive is not known")
	}
	if diff, err := p.plan(needed(t, s, p), false); err != nil || diff.Changes {
		t.Errorf("plan: changes %v, %v", diff.Changes, err)
	}
}

func TestOccupancy(t *testing.T) {
	t.Parallel()
	doc := revisionstest.Version("", "w", 1, 1)
	in := func(bucket string) *revisions.Stored {
		return &revisions.Stored{Document: doc.Document, Bucket: bucket}
	}
	buckets := []revisions.Bucket{
		revisions.NewBucket("opens", 0, 0, nil), revisions.NewBucket("stays empty", 3, 0, nil),
		revisions.NewBucket("stays full", 1, 0, []*revisions.Stored{in("stays full")}),
		revisions.NewBucket("empties", 2, 0, []*revisions.Stored{in("empties")}), revisions.NewBucket("opens again", 4, 0,
			nil),
	}
	result := []*revisions.Stored{in("opens again"), in("stays full"), in("opens"), in("opens")}
	opened, emptied := occupancy(buckets, result)
	if diff := cmp.Diff([]string{"opens", "opens again"}, opened); diff != "" {
		t.Errorf("opened (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"empties"}, emptied); diff != "" {
		t.Errorf("emptied (-want +got)\n%s", diff)
	}
}
