package jsonschema

import (
	santhosh "github.com/santhosh-tekuri/jsonschema/v5"

	"purser/internal/regex"
)

// format reports whether a value has a format. Its cost is counted.
type format func(w counter, value any) bool

// formatOf returns the format with a name; nil for unknown formats, which all values have.
func formatOf(name string) format {
	has := santhosh.Formats[name]
	switch {
	case has == nil:
		return nil
	case name == "regex":
		return isRegex
	}
	return func(w counter, value any) bool {
		text, _ := value.(string)
		w.spend(formatSteps + len(text)*formatByte)
		return has(value)
	}
}

// isRegex reports whether a text is a regular expression in RE2's syntax, within the limits of patterns.
func isRegex(w counter, value any) bool {
	text, ok := value.(string)
	if !ok {
		return true
	}
	_, err := regex.Compile(w.meter, text)
	w.spend(formatSteps)
	return err == nil
}

// Costs in steps.
const (
	formatSteps = 300 // checking a format
	formatByte  = 20  // additionally, for each byte of the text
)
