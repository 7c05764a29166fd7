package validations

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"purser/internal/spelling"
)

// CoverageValidation is the server's validation that every concrete document has a schema in force. It is made if a
// ValidationPolicy lists it; else what it would find is a warning (spec/api.md §0 D23).
const CoverageValidation = "purser-coverage-validation"

// PuppetValidation is the server's validation of overrides of Puppet resources. It is made if a ValidationPolicy lists
// it.
const PuppetValidation = "puppet-override-validation"

// PackageValidation is the server's validation that the Murano packages of a revision fit together. It is made if a
// ValidationPolicy lists it.
const PackageValidation = "murano-package-validation"

// PackageKind is the schema of documents that describe Murano packages. The server makes their data, so no DataSchema
// is missing for them.
const PackageKind = "murano/Package/v1"

// IsOwn reports whether only the server itself makes a validation (spec/api.md §0 D10).
func IsOwn(name string) bool {
	return strings.HasPrefix(name, ReservedPrefix) || slices.Contains(Optional(), name)
}

// purserPrefix begins names that nobody may post results under: those of validations that the server makes or may make
// in a later version.
const purserPrefix = "purser-"

func isReserved(name string) bool { return IsOwn(name) || strings.HasPrefix(name, purserPrefix) }

// Optional returns the names of the server's own validations that have no reserved name.
func Optional() []string { return []string{CoverageValidation, PuppetValidation, PackageValidation} }

// Unmakeable says why there will be no result of a validation, and which name may have been meant: its name is reserved
// for the server, which makes no such validation. It is "" for others.
func Unmakeable(name string) string {
	made := append(append(Own(), SchemaValidationAlias), Optional()...)
	if !isReserved(name) || slices.Contains(made, name) {
		return ""
	}
	text := "the server makes no such validation, and others cannot post one of this name"
	if nearest := spelling.Nearest(name, made); nearest != "" {
		text += "; did you mean " + nearest + "?"
	}
	return text
}

// Uncovered are documents of one schema that none in force checks.
type Uncovered struct {
	Schema    string
	Documents int
	Nearest   string // a schema in force that may have been meant; "" if none is like it
}

// Coverage returns the schemas of documents that have none in force, most documents first: documents are the numbers of
// concrete documents by their schema, registered the names of DataSchemas.
func Coverage(documents map[string]int, registered []string) (uncovered []Uncovered) {
	const maxNearest, maxCandidates = 20, 1000 // for how many schemas, of how many, one that may be meant is looked for
	inForce := slices.Clone(registered)
	inForce = slices.AppendSeq(inForce, maps.Keys(builtins))
	inForce = slices.AppendSeq(inForce, maps.Keys(provided))
	slices.Sort(inForce)
	for schema, n := range documents {
		if _, covered := slices.BinarySearch(inForce, schema); !covered && schema != DataSchemaKind && schema != PackageKind {
			uncovered = append(uncovered, Uncovered{Schema: schema, Documents: n})
		}
	}
	slices.SortFunc(uncovered, func(a, b Uncovered) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Schema, b.Schema))
	})
	for i := range uncovered[:min(len(uncovered), maxNearest)] {
		uncovered[i].Nearest = spelling.Nearest(uncovered[i].Schema, inForce[:min(len(inForce), maxCandidates)])
	}
	return uncovered
}

// String says how many documents there are, and which schema may have been meant.
func (u Uncovered) String() string {
	if u.Documents == 1 {
		return u.counted("1 document")
	}
	return u.counted(fmt.Sprintf("%d documents", u.Documents))
}

func (u Uncovered) counted(documents string) string {
	if u.Nearest == "" {
		return fmt.Sprintf("%s (%s)", u.Schema, documents)
	}
	return fmt.Sprintf("%s (%s; did you mean %s?)", u.Schema, documents, u.Nearest)
}

// CoverageWarning says which documents have no schema, "" if all have one.
func CoverageWarning(uncovered []Uncovered) string {
	const maxShown = 20
	if len(uncovered) == 0 {
		return ""
	}
	total := 0
	var shown []string
	for i, u := range uncovered {
		total += u.Documents
		if i < maxShown {
			shown = append(shown, u.counted(strconv.Itoa(u.Documents)))
		}
	}
	if len(uncovered) > maxShown {
		shown = append(shown, "…")
	}
	if total == 1 {
		return "1 document has no DataSchema: " + strings.Join(shown, ", ")
	}
	return fmt.Sprintf("%d documents have no DataSchema: %s", total, strings.Join(shown, ", "))
}
