package changes

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/secrets"
	"purser/internal/validations"
)

// The work on selections is bounded, whichever list is long: of those beyond the bound nothing is known.
func TestRenderer_Select_bounded(t *testing.T) {
	t.Parallel()
	var patterns []string
	for i := range 100 {
		patterns = append(patterns, fmt.Sprintf("b%d*", i))
	}
	var rendered []*revisions.Stored
	for i := range 100 {
		doc := &document.Document{Identity: document.Identity{Schema: "a/A/v1", Layer: "site", Name: strconv.Itoa(i)}}
		rendered = append(rendered, &revisions.Stored{Document: doc, Bucket: "x"})
	}
	for name, c := range map[string]struct {
		selection validations.Selection
		bounded   bool
	}{
		"buckets": {validations.Selection{Buckets: patterns}, true},
		"layers":  {validations.Selection{Layers: patterns}, true},
		"few":     {validations.Selection{Layers: []string{"site"}}, false},
	} {
		selections := make([]validations.Selection, 12_000)
		for i := range selections {
			selections[i] = c.selection
		}
		found, err := Renderer{}.Select(t.Context(), rendered, selections)
		if err != nil || (len(found) < len(selections)) != c.bounded || len(found) == 0 {
			t.Errorf("%s: %d of %d selections, %v", name, len(found), len(selections), err)
		}
	}
}

// The digest of what depends on a secret differs between keysets, is the same after a rotation, and differs from that of
// the same data without a secret.
func TestRenderer_Select_secrets(t *testing.T) {
	t.Parallel()
	all := []validations.Selection{{Schemas: []string{"*"}}}
	digest := func(vault Vault, tainted bool) document.Digest {
		t.Helper()
		data := []byte(`"secret"`)
		doc := &revisions.Stored{Tainted: tainted, Document: &document.Document{
			Identity: document.Identity{Schema: "a/A/v1", Layer: "site", Name: "a"}, Data: data, Digest: document.DigestOf("secret"),
		}}
		found, err := Renderer{Vault: vault}.Select(t.Context(), []*revisions.Stored{doc}, all)
		if err != nil || len(found) != 1 || found[0].Documents != 1 {
			t.Fatalf("%+v, %v", found, err)
		}
		return found[0].Digest
	}
	open := func(path string) Vault {
		t.Helper()
		vault, err := secrets.Open(t.Context(), path, secrets.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		return vault
	}
	path := filepath.Join(t.TempDir(), "keyset.json")
	vault := open(path)
	before := digest(vault, true)
	if other := digest(open(filepath.Join(t.TempDir(), "other.json")), true); other == before {
		t.Error("two keysets have the same digest of a secret")
	}
	if cleartext := digest(vault, false); cleartext == before {
		t.Error("the digest of a secret is that of the same data without one")
	}
	if _, _, err := secrets.Rotate(path, nil, time.Unix(1_800_000_000, 0), 0); err != nil {
		t.Fatal(err)
	}
	if after := digest(open(path), true); after != before {
		t.Error("the digest of a secret changes with a rotation")
	}
}
