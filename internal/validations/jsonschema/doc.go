// Package jsonschema checks data against schemas of Draft 4, 6, 7, 2019-09 and 2020-12. Its messages are those of
// python-jsonschema 4.10. It evaluates schemas itself, because github.com/santhosh-tekuri/jsonschema/v5 can neither
// count its work nor be stopped. It uses that library to check formats, and tests compare the results of both.
//
// A schema passes through these steps:
//
//	text → value (values.go)
//	     → draft (draft.go)      by $schema; Draft 4 without one
//	     → metaschema (meta.go)  is it a valid schema of that draft?
//	     → graph (graph.go)      its schemas, their names (identify.go) and references (refs.go), sorted by the values
//	       they apply to (rules.go), with the keywords that need no other schema (assertions.go, pattern.go)
//	     → extension.go          keywords of extensions
//	     → loops (loops.go)      does it lead back to itself at the same place of the data?
//
// A check of data evaluates the schema (check.go, applying.go, assert.go, unevaluated.go), keeps the first violations
// (failure.go), and describes them (describe.go, wording.go, causes.go).
//
// Invariants:
//
//   - Nothing is ever opened: a schema may refer to itself, to other DataSchemas by their names (Options.Others), and
//     to the metaschemas, which are embedded.
//   - A reference without a target among these is a finding only of checks that reach it.
//   - The work of compiling and checking is counted while it is done (work.go), and ends as soon as the request's
//     budget is exceeded. Loops and deep nesting, which would crash the process, are refused beforehand.
//   - The same schema and data give the same findings in the same order.
//   - In Draft 4, 1.0 is not an integer; true is not a number in any draft. Formats are annotations, unless a schema of
//     2020-12 requires the vocabulary format-assertion, or Options.AssertFormats is set.
//
// It differs from Python in that patterns are those of RE2 (no lookarounds, no back-references), numbers are compared
// exactly rather than as binary fractions (0.3 is a multiple of 0.1), and true never equals 1, at any depth.
package jsonschema

import "fmt"

// Finding is one violation.
type Finding struct {
	Message  string   `json:"message"`
	Instance []string `json:"instance"` // path inside the data, one element per step: ["a","0"]; empty for the root
	// SchemaPath is ".properties.a.type", "." + dot-joined; the last step is the keyword, or the place of a false.
	SchemaPath string `json:"schema_path"`
	// Hint suggests a correction, "" if there is none. It contains names in the schema or the data, and examples in the
	// schema.
	Hint string `json:"hint,omitempty"`
	// Causes are the violations of the branch of an anyOf or oneOf that was most likely intended.
	Causes []Finding `json:"causes,omitempty"`
	// Names means that the message contains names of members, but no other values of the data.
	Names bool `json:"names,omitempty"`
	// Secret marks a finding that depends on a secret, in the data or in the client versions. It is shown only to callers
	// who may see secrets, and stored as validations.Concealed returns it.
	Secret bool `json:"secret,omitempty"`
}

// Unusable is the error for a schema that cannot be used. Instance is the path within the schema. SchemaPath is the
// violated rule of the metaschema or, for rules of this package, the keyword.
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

// Options configure how a schema is compiled.
type Options struct {
	// Extensions add keywords, which may depend on the versions of client plugins (see Schema.For).
	Extensions []Extension
	// Others are the schemas that the schema may refer to by name, as JSON texts: acme/Address/v1#/definitions/street.
	Others map[string][]byte
	// AssertFormats makes format an assertion in all drafts but Draft 4.
	AssertFormats bool

	outline bool // do not read assertions and patterns (outline.go)
}

// Limits of all schemas.
const (
	maxNodes    = 50_000 // values in one schema
	maxLevels   = 16     // nested combinators at one place of the data
	maxSteps    = 64     // successive combinators and references at one place of the data
	maxLevel    = 128    // the same in a check, including dynamic references
	maxFindings = 100
)
