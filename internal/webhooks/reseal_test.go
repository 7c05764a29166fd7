package webhooks

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/secrets"
)

// keptWebhooks is a store of webhooks, which notes those that are sealed again.
type keptWebhooks struct {
	Store

	webhooks []Webhook
	resealed map[int64][2]string
}

func (k keptWebhooks) Webhooks(context.Context) ([]Webhook, error) { return k.webhooks, nil }

func (k keptWebhooks) ResealWebhook(_ context.Context, w Webhook, secret, previous []byte) error {
	k.resealed[w.ID] = [2]string{string(secret), string(previous)}
	return nil
}

// namedVault has the key "new", and "old" with which it opens; texts begin with the names of their keys.
type namedVault struct{ Vault }

func (namedVault) Prefix(context.Context) []byte { return []byte("new") }

func (namedVault) Reseal(_ context.Context, place secrets.Place, sealed []byte) ([]byte, error) {
	text, ok := bytes.CutPrefix(sealed, []byte("old"))
	if !ok {
		return nil, &secrets.Unopened{Place: place, Cause: secrets.LostKey, Key: 7}
	}
	return append([]byte("new"), text...), nil
}

// Secrets whose keys are missing stay as they are, and are one line in the log.
func TestService_Reseal(t *testing.T) {
	t.Parallel()
	kept := keptWebhooks{resealed: map[int64][2]string{}, webhooks: []Webhook{
		{ID: 1, Secret: []byte("new 1")},
		{ID: 2, Secret: []byte("old 2"), Previous: []byte("new 2")},
		{ID: 3, Secret: []byte("lost"), Previous: []byte("lost")},
		{ID: 4, Secret: []byte("old 4"), Previous: []byte("lost")},
	}}
	var log bytes.Buffer
	s := NewService(Config{Store: kept, Vault: namedVault{}})
	if n, err := s.Reseal(t.Context(), slog.New(slog.NewTextHandler(&log, nil))); n != 2 || err != nil {
		t.Errorf("resealed %d, %v", n, err)
	}
	if diff := cmp.Diff(map[int64][2]string{2: {"new 2", "new 2"}, 4: {"new 4", "lost"}}, kept.resealed); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, `webhooks="[3 4]"`) {
		t.Errorf("logged %s", text)
	}
}
