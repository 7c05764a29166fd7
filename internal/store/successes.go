package store

import (
	"slices"

	"purser/internal/validations"
)

// Nearly all revisions pass most of the server's own validations without a message. Such a success is a bit of the
// revision's row. It has no row in the tables results and reported.

const (
	noErrors  = "[]" // the errors of a success without a message
	successID = 0    // the ID that Reported gives a success without a row; IDs of rows begin with 1
)

// bitOf returns the value of a validation's bit, 0 if it has none. Never change a value: statements have them too.
func bitOf(name string) int16 {
	switch name {
	case validations.PolicyValidation:
		return 1
	case validations.RenderingValidation:
		return 2
	case validations.CoverageValidation:
		return 4
	case validations.PuppetValidation:
		return 8
	case validations.PackageValidation:
		return 16
	}
	return 0
}

// splitSuccesses returns the bits of those results of a new revision that are successes without a message, and the
// others.
func splitSuccesses(results []validations.Result) (bits int16, others []validations.Result) {
	others = slices.DeleteFunc(slices.Clone(results), func(r validations.Result) bool {
		bit := bitOf(r.Name)
		if r.Status != validations.Success.String() || string(r.Errors) != noErrors {
			bit = 0
		}
		bits |= bit
		return bit != 0
	})
	return bits, others
}
