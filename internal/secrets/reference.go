package secrets

import (
	"encoding/hex"
	"net/url"
	"strings"

	"purser/internal/document"
)

const (
	referenceScheme = "secret://"
	// shortDigest is the number of bytes of a digest in a reference: enough to show that a secret changed.
	shortDigest = 8
)

// Reference returns the text that answers show in place of a secret: secret://SITE/SCHEMA/LAYER/NAME/DIGEST with each
// part URL-escaped. DIGEST is the first 16 hex digits of the keyed digest (Keyring.Digest), so the reference changes
// only with the content and reveals nothing of it.
func Reference(place Place, digest document.Digest) string {
	parts := []string{place.Site, place.Schema, place.Layer, place.Name, hex.EncodeToString(digest[:shortDigest])}
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return referenceScheme + strings.Join(parts, "/")
}

// IsReference reports whether a document value has the form of a Reference, of any document.
func IsReference(value any) bool {
	text, _ := value.(string)
	_, ok := PlaceOf(text)
	return ok
}

// PlaceOf returns the place in a Reference, and false for other texts.
func PlaceOf(reference string) (Place, bool) {
	rest, ok := strings.CutPrefix(reference, referenceScheme)
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 5 || !isShortDigest(parts[4]) {
		return Place{}, false
	}
	for i, part := range parts {
		text, err := url.PathUnescape(part)
		if err != nil || url.PathEscape(text) != part {
			return Place{}, false
		}
		parts[i] = text
	}
	return Place{Site: parts[0], Identity: document.Identity{Schema: parts[1], Layer: parts[2], Name: parts[3]}}, true
}

func isShortDigest(s string) bool {
	digest, err := hex.DecodeString(s)
	return err == nil && len(digest) == shortDigest && s == strings.ToLower(s)
}
