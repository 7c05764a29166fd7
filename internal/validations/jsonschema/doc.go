// Package jsonschema checks JSON text against Draft 4 schemas and words what it finds as python-jsonschema 4.10 does
// (spec/api.md §7.3). It is the one place that knows github.com/santhosh-tekuri/jsonschema/v5.
//
// A schema passes through these stations:
//
//	text → value (value.go)      an ordered tree; order matters to the wording alone
//	     → metaschema (meta.go)  is it a Draft 4 schema at all?
//	     → graph (graph.go)      its schemas and how they lead to one another (refs.go, pattern.go)
//	     → loops (loops.go)      does it come back to itself at the same place?
//	     → extension.go          keywords that others add
//	     → library (pool.go,     a rewritten schema that holds only what the library shall see: the keywords that apply
//	       write.go)             schemas. All others this package evaluates (keywords.go, assertions.go, equal.go)
//
// and a check of data through these: decode and measure (decode.go), run the library (check.go, run.go), and, only if
// something failed, find each violation's place (locate.go) and put it into words (wording.go, repr.go).
//
// What always holds:
//
//   - The dialect is Draft 4, whatever $schema says (spec/api.md §0 D18): no formats, no keywords of later drafts, and
//     id changes nothing. 1.0 is no integer and true is no number.
//   - Nothing is ever opened: a schema may refer to itself alone.
//   - A reference that points nowhere is no fault of the schema until a check reaches it.
//   - What compiling and checking take is counted while they run (prices.go), and when it is more than the request may
//     spend they end at once (work.go). What would end the process is refused before: loops and deep nesting.
//   - The same schema and data give the same findings in the same order.
//
// Where it differs from Python: patterns are RE2's (no lookarounds, no back-references; \d, \w and \s are ASCII),
// numbers are compared exactly rather than as binary fractions (0.3 is a multiple of 0.1), and true never equals 1,
// however deep.
package jsonschema

import "fmt"

// Finding is one violation (spec/api.md §7.3).
type Finding struct {
	Message    string   `json:"message"`
	Instance   []string `json:"instance"`    // path inside the data, one element per step: ["a","0"]; empty for the root
	SchemaPath string   `json:"schema_path"` // ".properties.a.type", "." + dot-joined; the last step is the keyword
	// Names tells that the message shows names that the schema says, and nothing of the data.
	Names bool `json:"names,omitempty"`
	// Secret marks a finding that something secret has a part in: the data, or the client versions. Only those who may
	// see secrets are shown it, and what is stored of it is validations.Concealed.
	Secret bool `json:"secret,omitempty"`
}

// Unusable says why a schema can never be used. Instance is the path within the schema, and SchemaPath the rule of the
// Draft 4 metaschema that it breaks or, where the rule is this package's own, the keyword.
type Unusable struct{ Findings []Finding }

func (u *Unusable) Error() string {
	if len(u.Findings) == 0 {
		return "the schema cannot be used"
	}
	if more := len(u.Findings) - 1; more > 0 {
		return fmt.Sprintf("the schema cannot be used: %s (and %d more)", u.Findings[0].Message, more)
	}
	return "the schema cannot be used: " + u.Findings[0].Message
}

// Limits that are the same for every schema.
const (
	maxDepth    = 100    // nesting of data and of schemas; documents are not deeper either
	maxNodes    = 50_000 // values in one schema
	maxLevels   = 16     // combinators within one another at one place of the data
	maxSteps    = 64     // combinators and references in a row at one place of the data
	maxPrograms = 100_000
	maxFindings = 100
	maxMessage  = 8 << 10
)
