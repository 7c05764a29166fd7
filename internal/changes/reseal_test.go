package changes

import (
	"bytes"
	"context"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/secrets"
)

// sealedStore has secrets, by the last byte of their digests; the tests' vaults have sealed none of them.
type sealedStore struct {
	revisions.Store

	secrets int
}

func (s sealedStore) Outdated(_ context.Context, _ []byte, after document.Digest, limit int) (
	found []revisions.SealedContent, err error,
) {
	for i := int(after[0]) + 1; i <= s.secrets && len(found) < limit; i++ {
		id := document.Identity{Schema: "a/B/v1", Name: strconv.Itoa(i)}
		found = append(found, revisions.SealedContent{
			Digest: document.Digest{byte(i)}, Reference: secrets.Reference(secrets.Place{Site: revisions.DefaultSite, Identity: id}, document.Digest{}),
		})
	}
	return found, nil
}

func (sealedStore) OutdatedTexts(context.Context, []byte, int64, int) ([]revisions.SealedContent, error) {
	return nil, nil
}

func (s sealedStore) Sealed(context.Context) (int, error) { return s.secrets, nil }

// oldVault has an old copy of a keyset, or one with which nothing opens.
type oldVault struct {
	fakeVault

	cause secrets.Cause
}

func (v oldVault) Reseal(_ context.Context, place secrets.Place, _ []byte) ([]byte, error) {
	return nil, &secrets.Unopened{Place: place, Cause: v.cause, Key: uint32(7 + len(place.Name))}
}

// What a server cannot open for want of keys is one line in its log, however many secrets it is.
func TestService_Reseal_missingKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		vault   Vault
		secrets int
		want    string // the only line
	}{
		"an old copy of the keyset": {oldVault{cause: secrets.LostKey}, 120, "level=ERROR msg=\"the keyset lacks the keys of " +
			"secrets in the database: requests that need them fail; copy the keyset file that holds these keys to this server\" " +
			"secrets=120 keys=\"[8 9 10]\"\n"},
		"no keyset": {nil, 120, "level=WARN msg=\"the database holds secrets, and this server has no keyset: requests that need " +
			"them fail; name the keyset file with --secrets-keyset\" secrets=120\n"},
		"no keyset and no secrets": {nil, 0, ""},
		"a damaged text": {oldVault{cause: secrets.Damaged}, 1, "level=ERROR msg=\"a secret stays sealed with an older key\" " +
			"error=\"the secret of document [a/B/v1, None] 1 of site default cannot be opened: its sealed text was damaged, or moved " +
			"there from another document or site\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines bytes.Buffer
			log := slog.New(slog.NewTextHandler(&lines, nil))
			s := NewService(Config{Store: sealedStore{secrets: c.secrets}, Vault: c.vault})
			if c.vault == nil {
				s.KeepResealed(t.Context(), 0, log, nil)
			} else if n, err := s.Reseal(t.Context(), log); n != 0 || err != nil {
				t.Errorf("resealed %d, %v", n, err)
			}
			_, got, _ := strings.Cut(lines.String(), " ") // without the time
			if got != c.want || strings.Count(got, "\n") > 1 {
				t.Errorf("logged %s\nwant %s", got, c.want)
			}
		})
	}
}
