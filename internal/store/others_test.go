package store_test

import (
	"strings"
	"testing"
	"time"

	"purser/internal/document"
	"purser/internal/events"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
	"purser/internal/webhooks"
)

// Each statement that the other tests of the store do not run finds its row. Tests of api say what they are for.
func TestStatements_others(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, site := openStore(t, url, defaults()), open(t, url)
	put(t, site, "a", strings.Replace(widget("w", 1), "{x: 1}", "reference", 1))
	put(t, site, "a", widget("w", 2))
	finds := func(what string, n int, err error) {
		t.Helper()
		if n != 1 || err != nil {
			t.Errorf("%s: %d rows, want 1, %v", what, n, err)
		}
	}
	runs := func(what, text string, args map[string]any) {
		t.Helper()
		args["site"] = revisions.DefaultSite
		n, err := s.Run(t.Context(), text, args)
		finds(what, int(n), err)
	}
	othersOfTagsAndWaivers(t, s, finds)
	othersOfResults(t, s, finds, runs)
	othersOfSecrets(t, s, finds, runs)
	othersOfWebhooks(t, s, finds)
	size, err := s.Size(t.Context())
	finds("size", min(1, int(size)), err)
}

type (
	finding func(what string, n int, err error)
	running func(what, text string, args map[string]any)
)

func othersOfTagsAndWaivers(t *testing.T, s *store.Store, finds finding) {
	t.Helper()
	ctx, about := t.Context(), revisions.About{Revision: 1, Caller: revisions.Caller{ID: "u", Name: "u"}}
	if _, err := s.Tag(ctx, about, revisions.Tag{Name: "good", Data: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	tags, err := s.Tags(ctx, 1)
	finds("tags", len(tags), err)
	tagged, err := s.Tagged(ctx, "good")
	finds("tagged", int(tagged), err)
	made, err := s.Waive(ctx, about, validations.WantedWaiver{Validation: "v", Reason: "r", Lasts: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	waivers, err := s.WaiversOf(ctx, 1)
	finds("waivers of a revision", len(waivers.Waivers), err)
	for _, active := range []bool{false, true} {
		waivers, err := s.Waivers(ctx, queries.Page{Limit: 9}, active)
		finds("waivers", len(waivers.Waivers), err)
	}
	count, err := s.CountWaivers(ctx)
	finds("active waivers", int(count), err)
	if _, _, ended, err := s.EndWaiver(ctx, about, made.ID); !ended || err != nil {
		t.Errorf("the waiver does not end: %v", err)
	}
}

func othersOfResults(t *testing.T, s *store.Store, finds finding, runs running) {
	t.Helper()
	ctx, about := t.Context(), revisions.About{Revision: 1, Caller: revisions.Caller{ID: "u", Name: "u"}}
	result := validations.Result{
		Name: "v", Status: "success", Validator: []byte("{}"), Errors: []byte("[]"), Held: document.Digest{1},
		Inputs: validations.Selection{Buckets: []string{"a"}},
	}
	if _, _, err := s.AddResult(ctx, about, result); err != nil {
		t.Fatal(err)
	}
	held, err := s.Held(ctx, []revisions.Hold{{Name: "v", Digest: result.Held}}, "")
	finds("held results", len(held), err)
	newest, err := s.Settled(ctx)
	finds("the newest revision", int(newest)-1, err)
	runs("votes", store.Statements.VotesAbout, map[string]any{"numbers": []int64{1}, "names": []string{"v"}})
	to, err := s.Around(ctx, newest)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CarryHeld(ctx, revisions.Revision{ID: newest, Stamp: to.Stamp}, 1, false, result); err != nil {
		t.Error(err)
	}
	held, err = s.Held(ctx, []revisions.Hold{{Name: "v", Digest: result.Held}}, "")
	if finds("held results after one was carried", len(held), err); len(held) == 0 {
		return
	}
	if held[0].Revision != newest {
		t.Errorf("the result was not carried: %+v", held[0])
	}
	_, err = s.Run(ctx, store.Statements.CopyHeld, map[string]any{
		"site": revisions.DefaultSite, "revision": 1, "revisions": []int64{held[0].Revision}, "names": []string{"v"},
		"ids": []int64{held[0].ID},
	})
	if err != nil {
		t.Error(err)
	}
}

func othersOfSecrets(t *testing.T, s *store.Store, finds finding, runs running) {
	t.Helper()
	ctx := t.Context()
	found, err := s.Documents(ctx, 1, all())
	if err != nil || len(found.Documents) != 1 {
		t.Fatalf("%d documents, %v", len(found.Documents), err)
	}
	digest := found.Documents[0].Digest
	runs("a secret", store.Statements.AddSealed, map[string]any{"digest": digest[:], "sealed": []byte("old")})
	runs("a text", store.Statements.InsertTexts, map[string]any{
		"last": 100 * revisions.MaxTextsOfBlock, "blocks": []int64{99}, "bodies": [][]byte{[]byte("old")},
		"references": []string{"r"},
	})
	count, err := s.Sealed(ctx)
	finds("secrets", count, err)
	old, err := s.SitesToReseal(ctx, []byte("new"))
	finds("sites with old secrets", len(old), err)
	news, err := s.News(ctx)
	finds("sites with news", len(news), err)
	if _, err := s.Due(ctx, 1); err != nil {
		t.Error(err)
	}
	contents, err := s.Outdated(ctx, []byte("new"), document.Digest{}, 9)
	finds("old secrets", len(contents), err)
	texts, err := s.OutdatedTexts(ctx, []byte("new"), 0, 9)
	finds("old texts", len(texts), err)
	for _, content := range append(contents, texts...) {
		if err := s.Reseal(ctx, content, []byte("new")); err != nil {
			t.Error(err)
		}
	}
	if contents, err := s.Outdated(ctx, []byte("new"), document.Digest{}, 9); len(contents) > 0 || err != nil {
		t.Errorf("%d secrets are still old, %v", len(contents), err)
	}
}

func othersOfWebhooks(t *testing.T, s *store.Store, finds finding) {
	t.Helper()
	ctx := t.Context()
	w := webhooks.Webhook{URL: "https://a.example", Enabled: true, Secret: []byte("s"), CreatedAt: time.Unix(0, 0).UTC()}
	var err error
	if w.ID, err = s.AddWebhook(ctx, w, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.ResealWebhook(ctx, w, []byte("t"), nil); err != nil {
		t.Error(err)
	}
	if _, err := s.Enqueue(ctx, w.ID, events.Event{At: time.Unix(0, 0), Data: []byte("{}")}); err != nil {
		t.Error(err)
	}
	deliveries, _, err := s.Deliveries(ctx, w.ID, queries.Page{Limit: 9})
	finds("deliveries", len(deliveries), err)
	if err := s.DropWebhook(ctx, w.ID); err != nil {
		t.Error(err)
	}
}
