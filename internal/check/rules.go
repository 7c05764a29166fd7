package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"purser/internal/validations"
	"purser/internal/words"
)

// Rule is a kind of finding.
type Rule struct {
	ID    string // stable, because baselines and options use it
	Short string // the problem
	Help  string // the advice
}

// The rules that do not correspond to an error type of the server.
const (
	ruleFile           = "file"
	ruleSyntax         = "syntax"
	ruleFrame          = "frame"
	ruleDuplicate      = "duplicate-document"
	ruleSecondPolicy   = "second-layering-policy"
	ruleLimit          = "limit"
	ruleUnlisted       = "unlisted"
	ruleDuplicateKey   = "duplicate-key"
	ruleUnknownKey     = "unknown-key"
	ruleUnquoted       = "unquoted"
	ruleSchema         = "schema"
	ruleRenderedSchema = "rendered-schema"
	ruleReference      = "schema-reference"
	ruleNoSchema       = "no-schema"
	ruleNoPolicy       = "no-layering-policy"
	ruleRendering      = "rendering"
	rulePuppet         = "puppet-override"
	rulePackage        = "murano-package"
)

// Rules returns all rules, in the order in which they are checked.
func Rules() []Rule {
	return []Rule{
		{ruleFile, "A file cannot be read", "Correct its permissions, or leave it out."},
		{ruleSyntax, "A document is not YAML or JSON", "Correct the text at the line."},
		{ruleFrame, "A document lacks schema, metadata or data, or its metadata is wrong", "Each document is a mapping " +
			"with schema, metadata and data; metadata has a schema, a name, a storagePolicy and a layeringDefinition."},
		{ruleDuplicate, "Two documents have the same schema, layer and name", "Remove one of them, or rename it."},
		{ruleSecondPolicy, "A second LayeringPolicy exists", "A site has one; remove the others."},
		{ruleLimit, "A document or file is larger than the server accepts", "Split it up."},
		{ruleUnlisted, "A validation has more errors than are listed", "Correct those that are listed first."},
		{ruleDuplicateKey, "A key appears twice in one mapping", "The last one wins; remove the other."},
		{ruleUnknownKey, "A key of a document is not kept, or has no effect", "Remove the key, or correct its name and its " +
			"indentation."},
		{ruleUnquoted, "A value of an encrypted document is null, because it is not quoted", "A value that begins with " +
			"#, & or ! must be quoted."},
		{ruleSchema, "A document violates its schema", "Correct the value, or the DataSchema."},
		{ruleRenderedSchema, "A rendered document violates its schema", "Correct the value where it was written; the " +
			"related places show how it got there."},
		{ruleReference, "A DataSchema refers to what is not there", "Correct the reference, or write into the DataSchema " +
			"what it refers to: nothing is fetched."},
		{ruleNoSchema, "Documents have no DataSchema, so nothing checks them", "Register a DataSchema, or correct the " +
			"document's schema. It is an error if a ValidationPolicy lists purser-coverage-validation."},
		{ruleNoPolicy, "Documents have layers, and there is no LayeringPolicy", "Add the LayeringPolicy of the " +
			"site to the paths that are checked."},
		{"unknown-layer", "The LayeringPolicy does not list a document's layer", "Correct it, or add it to layerOrder."},
		{"parent", "A parentSelector selects nothing, or the wrong document", "Correct it, or the labels of the parent."},
		{"layering-action", "A layering action cannot be carried out", "Correct its method or its path."},
		{"replacement", "A document replaces nothing, or cannot replace", "Correct its name, parentSelector or replacement."},
		{"substitution-source", "A substitution's source does not exist", "Correct the schema and name of the source."},
		{"substitution-path", "A substitution's source has nothing at the path", "Correct the path, or the source's data."},
		{"pattern", "A substitution's pattern is not found", "Correct the pattern, or the text that it searches."},
		{"cycle", "Documents depend on each other in a circle", "Remove one of the substitutions or parents."},
		{ruleRendering, "Documents do not render", "Correct the cause in the message."},
		{rulePuppet, "An override of a Puppet resource cannot be applied", "Correct the override, or describe its type. It " +
			"is an error if a ValidationPolicy lists puppet-override-validation."},
		{rulePackage, "Murano packages do not fit together", "Add the package that is missing, or correct the versions. It " +
			"is an error if a ValidationPolicy lists murano-package-validation."},
	}
}

// byErrorType has the rules of error types of the server.
var byErrorType = map[string]string{
	"LayeringPolicyNotFound":         ruleNoPolicy,
	"InvalidDocumentLayer":           "unknown-layer",
	"DocumentParentNotFound":         "parent",
	"InvalidDocumentParent":          "parent",
	"IndeterminateDocumentParent":    "parent",
	"MissingDocumentKey":             "layering-action",
	"UnsupportedActionMethod":        "layering-action",
	"InvalidDocumentReplacement":     "replacement",
	"SubstitutionSourceNotFound":     "substitution-source",
	"SubstitutionSourceDataNotFound": "substitution-path",
	"MissingDocumentPattern":         "pattern",
	"DocumentPatternNotFound":        "pattern",
	"SourcePatternNotFound":          "pattern",
	"SubstitutionDependencyCycle":    "cycle",
	"SchemaNotFound":                 ruleNoSchema,
	"UnknownKey":                     ruleUnknownKey,
	"UnresolvableReference":          ruleReference,
}

// byValidation has the rules of other findings of a validation of the server.
var byValidation = map[string]string{
	validations.SchemaValidation:      ruleSchema,
	validations.SchemaValidationAlias: ruleSchema,
	validations.CoverageValidation:    ruleNoSchema,
	validations.PuppetValidation:      rulePuppet,
	validations.PackageValidation:     rulePackage,
}

// RuleOf returns the rule of a finding of the server: of its validation, and what it broke.
func RuleOf(validation, broken string) string {
	if rule := cmp.Or(byErrorType[broken], byValidation[validation]); rule != "" {
		return rule
	}
	if strings.HasPrefix(broken, ".") || broken == "D002" { // a path in a schema
		return ruleRenderedSchema
	}
	return ruleRendering
}

// adviceOf returns the advice for a rule.
func adviceOf(id string) string {
	for _, rule := range Rules() {
		if rule.ID == id {
			return rule.Help
		}
	}
	return ""
}

// KnowsRules returns an error if a name is not the id of a rule.
func KnowsRules(names []string) error {
	var ids []string
	for _, rule := range Rules() {
		ids = append(ids, rule.ID)
	}
	for _, name := range names {
		if slices.Contains(ids, name) {
			continue
		}
		hint := "--list-rules lists them"
		if nearest := words.Nearest(name, ids); nearest != "" {
			hint = "did you mean " + nearest + "?"
		}
		return fmt.Errorf("there is no rule %q: %s", name, hint)
	}
	return nil
}
