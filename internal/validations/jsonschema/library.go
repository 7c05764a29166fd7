package jsonschema

import (
	santhosh "github.com/santhosh-tekuri/jsonschema/v5"
)

// formatOf returns what tells whether a value has a format; nil for formats that are not known, which all values have.
// These are the library's.
func formatOf(name string) func(any) bool { return santhosh.Formats[name] }
