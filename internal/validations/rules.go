package validations

import (
	"bytes"
	"crypto/sha256"
	"regexp"

	"purser/internal/document"
)

// DataSchemaKind is the schema of the documents that register schemas for other kinds (spec/api.md §2.5).
const DataSchemaKind = "deckhand/DataSchema/v1"

// engineVersion is part of every Pair: raise it when checks come to judge or word anything differently.
const engineVersion = "2"

// Rule names what checks a document: the text of a schema and, where the outcome depends on them, the versions of
// client plugins.
type Rule struct {
	Schema   document.Digest
	Versions document.Digest // zero where they do not matter
}

// IsZero tells whether it names nothing.
func (r Rule) IsZero() bool { return r == Rule{} }

// Pair names one check: of one content by one rule.
type Pair document.Digest

// PairOf returns the name of the check of a content by a rule.
func PairOf(content document.Digest, rule Rule) Pair {
	parts := [][]byte{[]byte(engineVersion), rule.Schema[:], content[:]}
	if !rule.Versions.IsZero() {
		parts = append(parts, rule.Versions[:])
	}
	return sha256.Sum256(bytes.Join(parts, nil))
}

// Rules are the schemas in force for a revision.
type Rules struct {
	// Registered holds the rule of the DataSchema registered for each document schema.
	Registered map[string]Rule
	// ControlOnly limits checks to control documents, as the reference does (spec/api.md §0 C1).
	ControlOnly bool
}

// For returns the rule that checks a document at ingest; ok is false if none does (spec/api.md §0 C1, D19).
func (r Rules) For(doc *document.Document) (rule Rule, ok bool) {
	if Registers(doc) {
		return Rule{Schema: usability.digest}, true
	}
	traits := doc.Traits()
	if doc.Schema == DataSchemaKind || traits.Abstract || r.ControlOnly && !traits.Control {
		return Rule{}, false
	}
	if builtin, ok := builtins[doc.Schema]; ok {
		return Rule{Schema: builtin.digest}, true
	}
	if !traits.Final() {
		return Rule{}, false
	}
	rule, ok = r.Registered[doc.Schema]
	return rule, ok
}

// ForRendered returns the rule that checks a rendered document; ok is false if none does (spec/api.md §7.2).
func (r Rules) ForRendered(doc *document.Document) (rule Rule, ok bool) {
	if Registers(doc) {
		return Rule{Schema: usability.digest}, true
	}
	if builtin, ok := builtins[doc.Schema]; ok {
		return Rule{Schema: builtin.digest}, true
	}
	rule, ok = r.Registered[doc.Schema]
	return rule, ok
}

var registeredName = regexp.MustCompile(`^[a-zA-Z]+/[a-zA-Z]+/v\d+$`)

// Registers tells whether a DataSchema document is a validator at all: it is named like a document schema that is not
// built in, and holds a mapping with something in it (spec/api.md §2.5, §0 D19).
func Registers(doc *document.Document) bool {
	if doc.Schema != DataSchemaKind || !registeredName.MatchString(doc.Name) || builtins[doc.Name] != nil {
		return false
	}
	return len(doc.Data) > len("{}") && doc.Data[0] == '{'
}

// RuleText returns the text of a built-in rule, nil for any other.
func RuleText(rule Rule) []byte {
	if builtin := builtinByDigest(rule.Schema); builtin != nil {
		return builtin.text
	}
	return nil
}
