package secrets

import (
	"encoding/hex"
	"net/url"
	"strings"

	"purser/internal/document"
)

const (
	referenceScheme = "secret://"
	// shortDigest is how many bytes of a digest a reference shows: enough to see that a secret changed.
	shortDigest = 8
)

// Reference is what answers show in place of a secret: secret://SITE/SCHEMA/LAYER/NAME/DIGEST, each part URL-escaped,
// the last one the first 16 hex digits of the keyed digest (Keyring.Digest). So it needs no opening, stays the same
// while the content does, and tells nothing about it.
func Reference(place Place, digest document.Digest) string {
	parts := []string{place.Site, place.Schema, place.Layer, place.Name, hex.EncodeToString(digest[:shortDigest])}
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return referenceScheme + strings.Join(parts, "/")
}

// IsReference tells whether a document value is a text that Reference may have written. Whether it is the reference of
// a certain document, a comparison with that one's tells.
func IsReference(value any) bool {
	s, _ := value.(string)
	rest, ok := strings.CutPrefix(s, referenceScheme)
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 5 {
		return false
	}
	for _, part := range parts {
		if cleartext, err := url.PathUnescape(part); err != nil || url.PathEscape(cleartext) != part {
			return false
		}
	}
	return isShortDigest(parts[4])
}

func isShortDigest(s string) bool {
	digest, err := hex.DecodeString(s)
	return err == nil && len(digest) == shortDigest && s == strings.ToLower(s)
}

// PlaceOf reads the place out of what Reference wrote.
func PlaceOf(reference string) (Place, bool) {
	if !IsReference(reference) {
		return Place{}, false
	}
	parts := strings.Split(strings.TrimPrefix(reference, referenceScheme), "/")
	for i, part := range parts {
		parts[i], _ = url.PathUnescape(part) // IsReference has tried
	}
	return Place{Site: parts[0], Identity: document.Identity{Schema: parts[1], Layer: parts[2], Name: parts[3]}}, true
}
