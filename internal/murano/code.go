package murano

import (
	"cmp"
	"slices"
	"strings"
)

// Severity is the severity of an issue.
type Severity string

// The severities. An error makes a package invalid.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Code describes a kind of issue: the validator's prefix, a colon, E or W, and three digits. General codes have no
// prefix and no colon.
type Code struct {
	Code        string `json:"code"`
	Description string `json:"description"`
	// Tool is the corresponding code of murano-pkg-check, "" if there is none.
	Tool string `json:"tool,omitempty"`
}

// Severity returns the severity of issues with the code.
func (c Code) Severity() Severity { return severityOf(c.Code) }

// Is reports whether a selector, which is a code or a code without its prefix, selects this code.
func (c Code) Is(selector string) bool { return selector == c.Code || selector == bare(c.Code) }

func severityOf(code string) Severity {
	if strings.HasPrefix(bare(code), "W") {
		return Warning
	}
	return Error
}

// bare returns a code without its prefix.
func bare(code string) string { return code[strings.LastIndexByte(code, ':')+1:] }

// general returns the codes that all validators may report.
func general() []Code {
	return []Code{
		{"E000", "a check failed inside: a bug of the check", "E000"},
		{"E002", "a file is not YAML that can be read", "E002"},
		{"E003", "the check was stopped: too many issues", ""},
		{"E004", "a document is not a mapping", ""},
		{"E005", "more than one document where one is allowed", "E005"},
		{"E020", "a key that is required is missing", "E020"},
		{"E021", "a key of a method, argument, property or form is unknown", "E021"},
		{"E040", "a value must be a string", "E040"},
		{"E041", "Meta is not a type name, a one-key mapping or a list of those", ""},
		{"W010", "a key of the manifest, a class or a form definition is unknown", "W010"},
		{"W012", "a key appears twice in a mapping; the last value counts", ""},
	}
}

// CodesOf returns the codes of validators and the general ones, in order.
func CodesOf(validators []Validator) []Code {
	codes := general()
	for _, v := range validators {
		codes = append(codes, v.Codes...)
	}
	slices.SortFunc(codes, func(a, b Code) int { return cmp.Compare(a.Code, b.Code) })
	return codes
}
