package secrets

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/document"
)

func TestReference(t *testing.T) {
	t.Parallel()
	digest := document.Digest{0: 0xab, 7: 0xcd, 8: 0xef}
	for want, place := range map[string]Place{
		"secret://default/deckhand%2FPassphrase%2Fv1/site/ceph/ab000000000000cd": passphrase,
		"secret://default/a%2Fb%2Fv1//%C3%A9%20%3F%23/ab000000000000cd":          {"default", document.Identity{Schema: "a/b/v1", Name: "é ?#"}},
	} {
		got := Reference(place, digest)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if _, err := url.Parse(got); err != nil {
			t.Error(err)
		}
	}
	t.Run("each place and content has its own", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			a, b := anyPlace().Draw(t, "a"), anyPlace().Draw(t, "b")
			one, other := Reference(a, digest), Reference(b, digest)
			if !IsReference(one) || (a == b) != (one == other) {
				t.Fatalf("%+v is %s, %+v is %s", a, one, b, other)
			}
			if one == Reference(a, document.Digest{}) {
				t.Fatalf("%s does not tell the content", one)
			}
		})
	})
}

func TestIsReference(t *testing.T) {
	t.Parallel()
	good := Reference(passphrase, document.Digest{})
	for _, value := range []any{
		nil, true, document.Number("1"),
		[]any{good},
		document.Mapping{{Key: good, Value: good}},
		"", "secret://", "hunter2",
		" " + good, good + "0", good + "/", good + "?x", strings.TrimSuffix(good, "0"), strings.Replace(good, "0", "g", 1),
		strings.Replace(good, "%2F", "%2f", 1), strings.Replace(good, "%2F", "/", 1), strings.Replace(good, "%2F", "%zz", 1),
		strings.ToUpper(good), strings.Replace(good, "/0", "/A", 1), strings.Replace(good, "secret", "https", 1),
	} {
		if IsReference(value) {
			t.Errorf("%v counts as a reference", value)
		}
	}
}
