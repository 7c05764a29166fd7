package api

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"purser/internal/words"
)

// checkParameters refuses parameters of a request that its route does not know, since they may be misspelt, and empty
// ones, since the variable that they come from may be unset: the request would not do what the caller meant. If
// lenient, it ignores the former and passes the latter on, as Deckhand does.
func checkParameters(r *http.Request, known []string, lenient bool) error {
	q := paramsOf(r)
	if !lenient {
		for _, parameter := range slices.Sorted(maps.Keys(q.values)) {
			switch {
			case !slices.Contains(known, parameter):
				q.fail(parameter, "%s", unknownParameter(parameter, known))
			case slices.Contains(q.values[parameter], "") && !mayBeEmpty(parameter):
				q.fail(parameter, "It must not be empty: give it a value, or leave it out.")
			}
		}
	}
	if slices.Contains(known, cleartextSecrets) {
		q.flag(cleartextSecrets, true) // read when the caller is authorized
	}
	return q.err()
}

// mayBeEmpty reports whether an empty value of a parameter has a meaning: of a flag true; of a message, and of a node's
// role and cluster, that there is none.
func mayBeEmpty(parameter string) bool {
	switch parameter {
	case cleartextSecrets, "dry-run", "findings", "rendered", "report", "message", "role", "cluster":
		return true
	}
	return false
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
