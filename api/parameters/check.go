package parameters

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"purser/internal/words"
)

// Check refuses parameters of a request that its route does not know: they may be misspelt, and the request would not
// do what the caller meant. If lenient, it ignores them like the reference (spec/api.md §0 D21).
func Check(r *http.Request, known []string, lenient bool) error {
	q := Of(r)
	if !lenient {
		for _, parameter := range slices.Sorted(maps.Keys(q.values)) {
			if !slices.Contains(known, parameter) {
				q.Fail(parameter, "%s", unknownParameter(parameter, known))
			}
		}
	}
	if slices.Contains(known, CleartextSecrets) {
		q.Flag(CleartextSecrets, true) // read when the caller is authorized
	}
	return q.Err()
}

// unknownParameter suggests alternatives to an unknown parameter.
func unknownParameter(parameter string, known []string) string {
	if len(known) == 0 {
		return "This endpoint has no parameters."
	}
	if nearest := words.Nearest(parameter, known); nearest != "" {
		return fmt.Sprintf("This endpoint has no parameter of that name; did you mean %q?", nearest)
	}
	return "This endpoint has no parameter of that name; it has " + strings.Join(known, ", ") + "."
}
