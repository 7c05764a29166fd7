package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/fault"
	"purser/internal/store/storetest"
	"purser/internal/webhooks"
)

// A change that was made from an older secret, and an answer of a receiver that was replaced, change nothing.
func TestStream_SetWebhook(t *testing.T) {
	t.Parallel()
	s := openStore(t, storetest.URL(t), defaults())
	w := webhooks.Webhook{URL: "https://a.example", Enabled: true, Secret: []byte("first"), CreatedAt: time.Unix(0, 0).UTC()}
	var err error
	if w.ID, err = s.AddWebhook(t.Context(), w, 1); err != nil {
		t.Fatal(err)
	}
	rotated := w
	rotated.URL, rotated.Secret, rotated.Previous = "https://b.example", []byte("second"), []byte("first")
	for _, c := range []struct {
		w    webhooks.Webhook
		done bool
	}{{rotated, true}, {w, false}} {
		if done, err := s.SetWebhook(t.Context(), c.w, w.Secret); err != nil || done != c.done {
			t.Errorf("set %s: %v, %v", c.w.Secret, done, err)
		}
	}
	if err := s.Disable(t.Context(), w.ID, w.URL, "gone"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a receiver that was replaced disables the webhook: %v", err)
	}
	got, err := s.Webhook(t.Context(), w.ID)
	rotated.Types = got.Types // empty or nil
	if diff := cmp.Diff(rotated, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// IDs begin with 1: a smaller number finds no webhook.
func TestStream_Webhook_noID(t *testing.T) {
	t.Parallel()
	s := openStore(t, storetest.URL(t), defaults())
	w := webhooks.Webhook{URL: "https://a.example", Enabled: true, Secret: []byte("s"), CreatedAt: time.Unix(0, 0).UTC()}
	if _, err := s.AddWebhook(t.Context(), w, 1); err != nil {
		t.Fatal(err)
	}
	for _, id := range []int64{0, -1, 2} {
		if got, err := s.Webhook(t.Context(), id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("webhook %d: %v, %v", id, got, err)
		}
	}
}

// One owner gets half of the webhooks, the next one half of the rest; whose owner is not known count for nobody.
func TestStream_AddWebhook_shares(t *testing.T) {
	t.Parallel()
	s := openStore(t, storetest.URL(t), defaults())
	const most = 9
	for _, c := range []struct {
		owner string
		want  int
	}{{"", 1}, {"a", 4}, {"b", 2}, {"a", 0}, {"c", 1}, {"d", 1}, {"e", 0}, {"", 0}} {
		added := 0
		for range most + 1 {
			w := webhooks.Webhook{URL: "https://a.example", Secret: []byte("s"), CreatedAt: time.Unix(0, 0), Owner: c.owner}
			id, err := s.AddWebhook(t.Context(), w, most)
			if err != nil {
				t.Fatal(err)
			}
			if id == 0 || c.owner == "" {
				added += min(int(id), 1)
				break
			}
			added++
		}
		if added != c.want {
			t.Errorf("%q added %d webhooks, want %d", c.owner, added, c.want)
		}
	}
}
