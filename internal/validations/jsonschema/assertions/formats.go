package assertions

import (
	santhosh "github.com/santhosh-tekuri/jsonschema/v5"
)

// formatOf returns the library's function that reports whether a value has a format; nil for unknown formats, which all
// values have.
func formatOf(name string) func(any) bool { return santhosh.Formats[name] }

// IsFormat reports whether a format can be asserted.
func IsFormat(name string) bool { return formatOf(name) != nil }
