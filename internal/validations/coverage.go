package validations

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/words"
)

// CoverageValidation is the server's validation that every concrete document has a schema in force. It is performed if
// a ValidationPolicy lists it; otherwise its findings are warnings.
const CoverageValidation = "purser-coverage-validation"

// PuppetValidation is the server's validation of overrides of Puppet resources. It is performed if a ValidationPolicy
// lists it.
const PuppetValidation = "puppet-override-validation"

// PackageValidation is the server's validation that the Murano packages of a revision are consistent. It is performed
// if a ValidationPolicy lists it.
const PackageValidation = "murano-package-validation"

// PackageKind is the schema of documents that describe Murano packages. The server creates their data, so they need no
// DataSchema.
const PackageKind = "murano/Package/v1"

// IsOwn reports whether a validation is one of the server's own, whose results cannot be posted.
func IsOwn(name string) bool {
	return strings.HasPrefix(name, ReservedPrefix) || slices.Contains(Optional(), name)
}

// purserPrefix is the prefix of further reserved names: those of validations that the server performs or may perform in
// a later version.
const purserPrefix = "purser-"

// IsReserved reports whether only the server may report results of a validation, in this version or a later one.
func IsReserved(name string) bool { return IsOwn(name) || strings.HasPrefix(name, purserPrefix) }

// Optional returns the server's own validations that are performed only if a policy lists them.
func Optional() []string { return []string{CoverageValidation, PuppetValidation, PackageValidation} }

// Unmakeable explains why a validation will never have a result: its name is reserved for the server, which performs no
// such validation. It names the most similar one that exists, and returns "" for other names.
func Unmakeable(name string) string {
	made := append(append(DefaultValidations(), SchemaValidationAlias), Optional()...)
	if !IsReserved(name) || slices.Contains(made, name) {
		return ""
	}
	text := "the server makes no such validation, and others cannot post one of this name"
	if nearest := words.Nearest(name, made); nearest != "" {
		text += "; did you mean " + nearest + "?"
	}
	return text
}

// Kind describes the concrete documents of one schema.
type Kind struct {
	Documents int               // their number
	AtLeast   bool              // there may be more
	First     document.Identity // one of them
}

// Uncovered describes the documents of one schema for which no schema is in force.
type Uncovered struct {
	Kind

	Schema  string
	Nearest string // the most similar schema in force; "" if none is similar
}

// Coverage returns the schemas of documents for which no schema is in force, those of the most documents first.
// registered lists the names of DataSchemas, and hidden those of encrypted ones, which are in force too, but not
// suggested.
func Coverage(documents map[string]Kind, registered, hidden []string) (uncovered []Uncovered) {
	const maxNearest, maxCandidates = 20, 300 // schemas that get a suggestion, and candidates for one
	shown := slices.DeleteFunc(slices.Clone(registered), func(name string) bool {
		return !registeredName.MatchString(name) // no document can have such a schema
	})
	shown = slices.AppendSeq(shown, maps.Keys(builtins))
	shown = slices.AppendSeq(shown, maps.Keys(provided))
	slices.Sort(shown)
	inForce := slices.Concat(shown, hidden)
	slices.Sort(inForce)
	for schema, kind := range documents {
		if _, covered := slices.BinarySearch(inForce, schema); !covered && schema != DataSchemaKind && schema != PackageKind {
			uncovered = append(uncovered, Uncovered{Kind: kind, Schema: schema})
		}
	}
	slices.SortFunc(uncovered, func(a, b Uncovered) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Schema, b.Schema))
	})
	for i := range uncovered[:min(len(uncovered), maxNearest)] {
		uncovered[i].Nearest = words.Nearest(uncovered[i].Schema, shown[:min(len(shown), maxCandidates)])
	}
	return uncovered
}

// String returns a message that names the schema, the number of documents and the most similar schema in force.
func (u Uncovered) String() string {
	if u.AtLeast {
		return "No DataSchema is named " + u.counted(u.number()+" documents")
	}
	return "No DataSchema is named " + u.counted(words.Count(u.Documents, "document"))
}

// number returns the number of documents in words.
func (k Kind) number() string {
	if k.AtLeast {
		return strconv.Itoa(k.Documents) + " or more"
	}
	return strconv.Itoa(k.Documents)
}

func (u Uncovered) counted(documents string) string {
	if u.Nearest == "" {
		return fmt.Sprintf("%s (%s)", u.Schema, documents)
	}
	return fmt.Sprintf("%s (%s; did you mean %s?)", u.Schema, documents, u.Nearest)
}

// CoverageWarning returns a warning about documents without a schema, "" if there are none.
func CoverageWarning(uncovered []Uncovered) string {
	const maxShown = 20
	if len(uncovered) == 0 {
		return ""
	}
	var total Kind
	var shown []string
	for i, u := range uncovered {
		total.Documents, total.AtLeast = total.Documents+u.Documents, total.AtLeast || u.AtLeast
		if i < maxShown {
			shown = append(shown, u.counted(u.number()))
		}
	}
	if len(uncovered) > maxShown {
		shown = append(shown, "…")
	}
	if total.Documents == 1 && !total.AtLeast {
		return "1 document has no DataSchema: " + strings.Join(shown, ", ")
	}
	return fmt.Sprintf("%s documents have no DataSchema: %s", total.number(), strings.Join(shown, ", "))
}
