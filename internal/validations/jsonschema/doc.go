// Package jsonschema checks data against schemas of Draft 4, 6, 7, 2019-09 and 2020-12, and words what it finds as
// python-jsonschema 4.10 does (spec/api.md §7.3). It is the one place that knows
// github.com/santhosh-tekuri/jsonschema/v5: that checks formats, and in tests our verdict is compared with its. The
// evaluation is our own, because the library can neither count its work nor be stopped.
//
// A schema passes through these stations:
//
//	text → value (value.go)      members keep their order, which matters to the wording alone
//	     → draft (draft.go)      by $schema; Draft 4 without one
//	     → metaschema (meta.go)  is it a schema of that draft at all?
//	     → graph (graph.go)      its schemas, their names (identify.go) and references (refs.go), sorted by
//	       what they are applied to (rules.go), and the keywords that need no other schema (assertions.go, equal.go)
//	     → extension.go          keywords that others add
//	     → loops (loops.go)      does it come back to itself at the same place?
//
// and a check of data through these: evaluate it (check.go, applying.go, unevaluated.go, asserting.go), keep the first
// violations (violation.go), and put them into words (wording.go, repr.go, causes.go).
//
// What always holds:
//
//   - Nothing is ever opened: a schema may refer to itself, to other DataSchemas by their names (Options.Others), and
//     to the metaschemas, which are embedded.
//   - A reference that leads nowhere within these is no fault of the schema until a check comes to it.
//   - What compiling and checking take is counted while they run (prices.go), and when it is more than the request may
//     spend they end at once (work.go). What would end the process is refused before: loops and deep nesting.
//   - The same schema and data give the same findings in the same order.
//   - In Draft 4, 1.0 is not an integer; true is not a number in any draft. Formats are annotations, unless a schema of
//     2020-12 asks for the vocabulary format-assertion, or Options.AssertFormats is set.
//
// Where it differs from Python: patterns are RE2's (no lookarounds, no back-references), numbers are compared exactly
// rather than as binary fractions (0.3 is a multiple of 0.1), and true never equals 1, however deep.
package jsonschema

import "fmt"

// Finding is one violation (spec/api.md §7.3).
type Finding struct {
	Message  string   `json:"message"`
	Instance []string `json:"instance"` // path inside the data, one element per step: ["a","0"]; empty for the root
	// SchemaPath is ".properties.a.type", "." + dot-joined; the last step is the keyword, or the place of a false.
	SchemaPath string `json:"schema_path"`
	// Hint says what may have been meant; empty if nothing can be said. It shows names that the schema or the data has,
	// and examples of the schema.
	Hint string `json:"hint,omitempty"`
	// Causes tells what is wrong with the branch of an anyOf or oneOf that was most likely meant.
	Causes []Finding `json:"causes,omitempty"`
	// Names tells that the message shows names of members, and no other values of the data.
	Names bool `json:"names,omitempty"`
	// Secret marks a finding that something secret has a part in: the data, or the client versions. Only those who may
	// see secrets are shown it, and what is stored of it is validations.Concealed.
	Secret bool `json:"secret,omitempty"`
}

// Unusable says why a schema can never be used. Instance is the path within the schema, and SchemaPath the rule of the
// metaschema that it breaks or, where the rule is this package's own, the keyword.
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

// Options are what compiling a schema depends on besides its text.
type Options struct {
	// Extensions add keywords, which are judged with the versions of client plugins: see For.
	Extensions []Extension
	// Others are the schemas that the schema may refer to by name, as JSON texts: acme/Address/v1#/definitions/street.
	Others map[string][]byte
	// AssertFormats makes format an assertion in all drafts but Draft 4.
	AssertFormats bool

	outline bool // assertions and patterns are not read (outline.go)
}

// Limits that are the same for every schema.
const (
	maxDepth    = 100    // nesting of data and of schemas; documents are not deeper either
	maxNodes    = 50_000 // values in one schema
	maxLevels   = 16     // combinators within one another at one place of the data
	maxSteps    = 64     // combinators and references in a row at one place of the data
	maxLevel    = 128    // the same in a check, with the dynamic references on the way
	maxPrograms = 100_000
	maxFindings = 100
	maxMessage  = 8 << 10
)
