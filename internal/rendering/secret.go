package rendering

import (
	"regexp"
	"strings"
)

// address matches a reference to a secret.
var address = regexp.MustCompile(`^https?://[^\s/?#][^\s]*$`)

var secretID = regexp.MustCompile(`^[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$`)

func isReference(data any) bool {
	s, _ := data.(string)
	if strings.HasPrefix(s, "secret://") { // Purser's own
		return true
	}
	id := s[strings.LastIndex(s, "/")+1:]
	return address.MatchString(s) && strings.Contains(s, "secrets") && secretID.MatchString(id)
}

// decrypt puts the secret in the place of a reference to it.
func (r *run) decrypt(n *node, data any) (any, error) {
	if !isReference(data) {
		return data, nil
	}
	reference, _ := data.(string)
	secret, found := r.options.Resolve(reference)
	if !found {
		r.unresolved = true
		return nil, invalid("EncryptionSourceNotFound", []*node{n},
			"Required encryption source reference could not be resolved into a secret because it was not found among "+
				"encryption sources. Ref: %s. Referenced by: %s", reference, n.Identity)
	}
	n.computed = true
	return secret, nil
}
