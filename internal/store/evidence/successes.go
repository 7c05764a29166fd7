package evidence

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/validations"
)

// Nearly all revisions pass most of the server's own validations without a message. Such a success is a bit of the
// revision's row, and no result.

// succeeding are the validations that have bits, in order of the bits. Only append to it.
var succeeding = []string{
	validations.PolicyValidation, validations.RenderingValidation, validations.CoverageValidation,
	validations.PuppetValidation, validations.PackageValidation,
}

// Split returns the bits of those results of a new revision that are successes without a message, and the others.
func Split(results []validations.Result) (succeeded int16, others []validations.Result) {
	for _, r := range results {
		bit := slices.Index(succeeding, r.Name)
		if bit >= 0 && r.Status == validations.Success.String() && string(r.Errors) == noErrors {
			succeeded |= 1 << bit
		} else {
			others = append(others, r)
		}
	}
	return succeeded, others
}

// noErrors are the errors of a success without a message, and successID stands for the ID that it does not have.
const (
	noErrors  = "[]"
	successID = 0
)

// successes selects columns of successes that are bits, from revisions r and own, which has their names; conditions on
// these may follow.
func successes(columns string) string {
	names := make([]string, len(succeeding))
	for i, name := range succeeding {
		names[i] = fmt.Sprintf("(%d, '%s')", 1<<i, name)
	}
	return "SELECT " + columns + " FROM revisions r JOIN (VALUES " + strings.Join(names, ", ") +
		") own (bit, name) ON r.succeeded & own.bit <> 0 WHERE r.site = $1 AND "
}

// inOrder orders results by their columns name and id: those of the server's own validations are first.
var inOrder = " ORDER BY array_position('{" + strings.Join(succeeding, ",") + "}'::text[], name), id"
