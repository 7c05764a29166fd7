package document

import (
	"net/url"
	"strings"
)

// PointerSteps splits the fragment of a reference within a JSON Schema, without its leading slashes, into its steps.
// Like Python's jsonschema, it decodes percent-escapes first, then ~1 and ~0. ok is false if an escape is malformed.
func PointerSteps(fragment string) (steps []string, ok bool) {
	if fragment == "" {
		return nil, true
	}
	decoded, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, false
	}
	steps = strings.Split(decoded, "/")
	for i, step := range steps {
		steps[i] = UnescapeStep(step)
	}
	return steps, true
}

// UnescapeStep decodes ~1 and ~0 in a step of a JSON pointer (RFC 6901 §4).
func UnescapeStep(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}
