package validations

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/regex"
	"purser/internal/words"
)

const sanityAdvice = "Ensure that each document has a metadata, schema and data section. Each document must pass the " +
	"schema defined under: https://airship-deckhand.readthedocs.io/en/latest/validation.html#base-schema"

var metadataVersion = regexp.MustCompile(`^metadata/(Document|Control)/(v\d+)$`)

// Sanity checks that an entry is a document, using the base schema and the schema of its metadata, and that its data is
// not lost under another key. It returns an Invalid fault with a D001 message for each violation, or an error of meter,
// unwrapped. With compat, as in Deckhand, data may be missing in any case, metadata is checked by its own schema
// only if the base schema is satisfied, and all messages give the same advice.
func Sanity(meter *budget.Meter, e document.Entry, compat bool) error {
	violations, err := violationsOf(meter, e, compat)
	if err != nil || len(violations) == 0 {
		return err
	}
	refusal := fault.New(fault.Invalid, "InvalidDocumentFormat", "The provided documents failed schema validation")
	refusal.Reason = "Validation"
	paths := make([][]string, len(violations))
	for i, v := range violations {
		if path := cmp.Or(v.at, v.path); path != "" {
			paths[i] = strings.Split(strings.TrimPrefix(path, "."), ".")
		}
		if v.at != "" {
			paths[i] = append(paths[i], document.AtKey)
		}
	}
	positions, err := e.Positions(meter, paths)
	if err != nil {
		return err
	}
	for i, v := range violations {
		message, last := sanityMessage(e, v, positions[i], compat), len(refusal.Messages)-1
		again := last >= 0 && refusal.Messages[last].Message == message.Message &&
			refusal.Messages[last].Diagnostic == message.Diagnostic
		if !again { // a null breaks several rules
			refusal.Messages = append(refusal.Messages, message)
		}
	}
	return refusal
}

// Violations returns the number of violations for which Sanity refuses an entry, or a few more, without their places,
// which take most of the work. The only errors are those of meter, unwrapped.
func Violations(meter *budget.Meter, e document.Entry, compat bool) (int, error) {
	violations, err := violationsOf(meter, e, compat)
	return len(violations), err
}

func violationsOf(meter *budget.Meter, e document.Entry, compat bool) ([]violation, error) {
	root, _ := e.Value.(document.Mapping)
	violations, err := checkFrame(meter, root, compat)
	if err == nil && len(violations) == 0 && !compat {
		violations = checkData(root)
	}
	return withMisspellings(root, violations, compat), err
}

func checkFrame(meter *budget.Meter, root document.Mapping, baseFirst bool) ([]violation, error) {
	if hasPlainFrame(root) {
		return checkTexts(meter, root)
	}
	violations, err := checkBase(meter, root)
	kind, _ := document.Locate(root, []string{"metadata", "schema"}).(string)
	if err != nil || len(violations) > 0 && (baseFirst || !metadataVersion.MatchString(kind)) {
		return violations, err
	}
	ofMetadata, err := checkMetadata(meter, root)
	for _, v := range ofMetadata {
		if !slices.Contains(violations, v) { // both schemas have some rules in common
			violations = append(violations, v)
		}
	}
	return violations, err
}

// violation is one violation of the base schema or the metadata's schema.
type violation struct {
	path, message string
	at            string // the path of the key to correct; "" if it is the value at path that is wrong
	quotes        bool   // the message quotes a value or an unknown key of the document
	missing       string // the key that the mapping at path lacks
	misspelt      string // the key of that mapping that is probably a misspelling of it
}

func checkBase(meter *budget.Meter, root document.Mapping) ([]violation, error) {
	subject := document.Mapping{
		{Key: "schema", Value: root.At("schema")},
		{Key: "metadata", Value: root.At("metadata")},
		{Key: "data", Value: nil}, // any value is allowed
	}
	violations, err := violationsBy(meter, baseSchema, "", subject)
	// Like Deckhand, report .schema before .metadata and its members.
	slices.SortStableFunc(violations, func(a, b violation) int {
		return -strings.Compare(a.path, b.path)
	})
	return violations, err
}

func checkMetadata(meter *budget.Meter, root document.Mapping) ([]violation, error) {
	metadata, _ := root.At("metadata").(document.Mapping)
	kind, _ := metadata.At("schema").(string)
	matched := metadataVersion.FindStringSubmatch(kind)
	if matched == nil { // Python's $ in the base schema also matches before a final line break
		return []violation{{
			path:    ".metadata.schema",
			message: fmt.Sprintf("Invalid metadata schema %q specified: nothing may follow its version.", brief(kind)),
			quotes:  true,
		}}, nil
	}
	if matched[2] != "v1" {
		return []violation{{
			path:    ".metadata.schema",
			message: fmt.Sprintf("Invalid metadata schema metadata/%s version %s specified.", matched[1], matched[2]),
			quotes:  true,
		}}, nil
	}
	checker := documentSchema
	if matched[1] == "Control" {
		checker = controlSchema
	}
	violations, err := violationsBy(meter, checker, ".metadata", metadata)
	if err != nil {
		return nil, err
	}
	ofTexts, err := checkTexts(meter, root)
	return slices.Concat(violations, ofTexts), err
}

// checkTexts checks strings for rules that the schemas cannot express.
func checkTexts(meter *budget.Meter, root document.Mapping) ([]violation, error) {
	metadata, _ := root.At("metadata").(document.Mapping)
	ofPatterns, err := checkPatterns(meter, metadata)
	return append(checkLengths(root, metadata), ofPatterns...), err
}

// checkPatterns checks that the patterns of substitutions can be compiled.
func checkPatterns(meter *budget.Meter, metadata document.Mapping) (violations []violation, err error) {
	check := func(place any, path string, at int) error {
		m, _ := place.(document.Mapping)
		pattern, _ := m.At("pattern").(string)
		if pattern == "" {
			return nil
		}
		if message := checkPattern(meter, pattern); message != "" {
			path = fmt.Sprintf(".metadata.substitutions.%d.%s.pattern", at, path)
			violations = append(violations, violation{path: path, quotes: true, message: message})
		}
		return meter.Spend(0)
	}
	substitutions, _ := metadata.At("substitutions").([]any)
	for i, item := range substitutions {
		substitution, _ := item.(document.Mapping)
		if err := check(substitution.At("src"), "src", i); err != nil {
			return nil, err
		}
		destinations, several := substitution.At("dest").([]any)
		if !several {
			destinations = []any{substitution.At("dest")}
		}
		for _, destination := range destinations {
			if err := check(destination, "dest", i); err != nil {
				return nil, err
			}
		}
	}
	return violations, nil
}

// checkPattern returns why a pattern cannot be used, or "" if it can.
func checkPattern(meter *budget.Meter, pattern string) string {
	_, err := regex.Compile(meter, pattern)
	if _, ok := errors.AsType[*syntax.Error](err); ok {
		return fmt.Sprintf("'%s' is not an RE2 pattern (https://github.com/google/re2/wiki/Syntax): %v", brief(pattern), err)
	}
	if err != nil {
		return fmt.Sprintf("'%s' cannot be used as a pattern: %v", brief(pattern), err)
	}
	return ""
}

func checkLengths(root, metadata document.Mapping) (violations []violation) {
	layering, _ := metadata.At("layeringDefinition").(document.Mapping)
	for _, field := range []struct {
		path  string
		value any
	}{
		{".schema", root.At("schema")},
		{".metadata.name", metadata.At("name")},
		{".metadata.layeringDefinition.layer", layering.At("layer")},
	} {
		text, _ := field.value.(string)
		if n := utf8.RuneCountInString(text); n > MaxName {
			violations = append(violations, violation{path: field.path, message: fmt.Sprintf(
				"%s has %d characters, but at most %d are allowed", field.path[1:], n, MaxName)})
		}
	}
	return violations
}

// violationsBy checks the part of a document at a path against a schema.
func violationsBy(meter *budget.Meter, by *schema, at string, part document.Mapping) (
	violations []violation, err error,
) {
	findings, err := by.compiled().Check(meter, document.AppendJSON(nil, part))
	for _, finding := range findings {
		v := violation{path: strings.Join(append([]string{at}, finding.Instance...), "."), message: finding.Message}
		if strings.HasSuffix(finding.SchemaPath, ".required") {
			v.missing = Unexpected(finding.Message)
		}
		v.quotes = !finding.Names && finding.SchemaPath != "." && !strings.HasPrefix(finding.Message, "None is not ")
		if key := Unexpected(finding.Message); strings.HasSuffix(finding.SchemaPath, ".additionalProperties") {
			v.path += "." + key
			v.at, v.quotes = v.path, true
		}
		violations = append(violations, v)
	}
	return violations, err
}

func sanityMessage(e document.Entry, v violation, at document.Position, compat bool) fault.Message {
	root, _ := e.Value.(document.Mapping)
	metadata, _ := root.At("metadata").(document.Mapping)
	layering, _ := metadata.At("layeringDefinition").(document.Mapping)
	kind := brief(root.At("schema"))
	secret := mayBeEncrypted(root)
	if secret {
		v = v.unquoted()
		if !isSchemaName(kind) {
			kind = ""
		}
	}
	path := cmp.Or(v.path, ".")
	message, advice := v.message, ""
	switch {
	case v.misspelt != "" && !secret:
		advice = fmt.Sprintf("The key '%s' is probably a misspelt '%s'. ", brief(v.misspelt), v.missing)
	case v.misspelt != "" && !compat:
		advice = "The key at this place is probably a misspelt '" + v.missing + "'."
	}
	switch {
	case compat:
		advice += sanityAdvice
	case v.path == ".schema" && isManifest(root):
		advice = manifestAdvice
	case advice == "":
		advice = frameAdvice(v.path, v.message)
	}
	if !compat {
		message = wordedNull(root, v)
	}
	advice = strings.TrimSpace(advice)
	return fault.Message{
		Message: message, Error: true, Name: "D001", Level: "Error", Kind: "ValidationMessage",
		Diagnostic: fmt.Sprintf("At %s (line %d, column %d) of document %d, which begins at line %d. %s", path,
			at.Line, at.Column, e.Index, e.Line, advice),
		Correction: &fault.Correction{Path: path, Line: at.Line, Column: at.Column, Advice: advice},
		Documents:  []fault.Document{{Schema: kind, Name: brief(metadata.At("name")), Layer: brief(layering.At("layer"))}},
	}
}

// isManifest reports whether a document without a schema has the keys of a Kubernetes manifest.
func isManifest(root document.Mapping) bool {
	_, hasSchema := root.Lookup("schema")
	_, hasVersion := root.Lookup("apiVersion")
	_, hasKind := root.Lookup("kind")
	return !hasSchema && hasVersion && hasKind
}

// unquoted returns a violation without values and unknown keys of its document, which may be secret.
func (v violation) unquoted() violation {
	known, unknown := splitFrame(v.path)
	if v.path = known; !v.quotes {
		return v
	}
	v.message = "The value is invalid; it is not quoted, because the document is encrypted"
	if v.at != "" {
		v.message = additional + " (one is not named, because the document is encrypted)"
		if nearest := words.Nearest(unknown, frameKeys[itemIndex.ReplaceAllString(known, "$1")]); nearest != "" {
			v.message = additional + " (one is probably a misspelt '" + nearest + "')"
		}
	}
	return v
}

// wordedNull returns the message of a violation, without Python's name for a missing value or null.
func wordedNull(root document.Mapping, v violation) string {
	name := strings.TrimPrefix(v.path, ".")
	if !strings.HasPrefix(v.message, "None is not ") {
		return v.message
	}
	if _, held := root.Lookup(name); !held && !strings.Contains(name, ".") {
		return "The document has no " + name
	}
	return name + " has no value"
}

// Unexpected returns the first key that a message about disallowed properties names.
func Unexpected(message string) string {
	begin := strings.IndexAny(message, `'"`)
	if begin < 0 {
		return ""
	}
	key, _, _ := strings.Cut(message[begin+1:], message[begin:begin+1])
	return key
}

// brief shortens a name for a message. It returns "" if value is not a string.
func brief(value any) string {
	text, _ := value.(string)
	return words.First(text, MaxName)
}
