package validations

import (
	"crypto/sha256"
	"regexp"

	"purser/internal/document"
)

// DataSchemaKind is the schema of documents that register the schemas of other documents.
const DataSchemaKind = "deckhand/DataSchema/v1"

// engineVersion is part of every Pair. Increase it when the outcome or the messages of checks change.
const engineVersion = "5"

// Rule identifies a schema that documents are checked against, and everything else on which the outcome depends.
type Rule struct {
	Schema document.Digest
	// Context is a digest of the client versions and of the other DataSchemas on which the outcome depends; zero if it
	// depends on neither.
	Context document.Digest
}

// IsZero reports whether the rule is absent.
func (r Rule) IsZero() bool { return r == Rule{} }

// Pair identifies the check of a content against a rule.
type Pair document.Digest

// PairOf returns the Pair of a content and a rule.
func PairOf(content document.Digest, rule Rule) Pair {
	parts := make([]byte, 0, len(engineVersion)+3*len(content))
	parts = append(append(append(parts, engineVersion...), rule.Schema[:]...), content[:]...)
	if !rule.Context.IsZero() {
		parts = append(parts, rule.Context[:]...)
	}
	return sha256.Sum256(parts)
}

// OfSecret returns the Pair for the same check when secrets of a site are involved. It differs from those of cleartext
// and of other sites, so that a cached outcome reveals nothing about secrets.
func (p Pair) OfSecret(site string) Pair {
	return sha256.Sum256(append([]byte("secret of "+site+"\n"), p[:]...))
}

// Rules are the schemas in force in a revision.
type Rules struct {
	// Registered maps the schema of documents to the rule of the DataSchema registered for it.
	Registered map[string]Rule
	// ControlOnly limits checks of submitted documents to control documents, as Deckhand does, and ignores the
	// built-in schemas, and the keys of ValidationPolicies, that Deckhand does not have.
	ControlOnly bool
}

// For returns the rule for a submitted document; ok is false if there is none.
func (r Rules) For(doc *document.Document) (rule Rule, ok bool) {
	traits := doc.Traits()
	switch {
	case Registers(doc):
	case doc.Schema == DataSchemaKind, traits.Abstract, r.ControlOnly && !traits.Control:
		return Rule{}, false
	case builtins[doc.Schema] == nil && !traits.Final():
		return Rule{}, false
	}
	return r.ForRendered(doc)
}

// ForRendered returns the rule for a rendered document; ok is false if there is none.
func (r Rules) ForRendered(doc *document.Document) (rule Rule, ok bool) {
	if Registers(doc) {
		return Rule{Schema: dataSchema.digest}, true
	}
	if builtin, ok := builtins[doc.Schema]; ok {
		if doc.Schema == policyKind {
			builtin = policySchema(r.ControlOnly)
		}
		return Rule{Schema: builtin.digest}, true
	}
	if rule, ok = r.Registered[doc.Schema]; ok || r.ControlOnly || provided[doc.Schema] == nil {
		return rule, ok
	}
	return Rule{Schema: provided[doc.Schema].digest}, true
}

var registeredName = regexp.MustCompile(`^[a-zA-Z]+/[a-zA-Z]+/v\d+$`)

// Registers reports whether a document registers a DataSchema: its name is that of a document schema that is not built
// in, and its data is a non-empty mapping.
func Registers(doc *document.Document) bool {
	if doc.Schema != DataSchemaKind || !registeredName.MatchString(doc.Name) || builtins[doc.Name] != nil {
		return false
	}
	return len(doc.Data) > len("{}") && doc.Data[0] == '{'
}

// RuleText returns the text of a built-in rule's schema, nil for other rules.
func RuleText(rule Rule) []byte {
	if builtin := builtinByDigest(rule.Schema); builtin != nil {
		return builtin.text
	}
	return nil
}
