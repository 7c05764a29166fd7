package validations

import (
	"regexp"
	"strings"
)

// additional begins the messages about unknown keys.
const additional = "Additional properties are not allowed"

var (
	// neededMember matches the message about a missing member, and its name.
	neededMember = regexp.MustCompile(`^'(\w+)' is a (?:required property|dependency of)`)
	// itemIndex is the index of an item in a path.
	itemIndex = regexp.MustCompile(`\.\d+(\.|$)`)
)

// frameAdvice returns advice about an invalid value in a document's frame, at a path such as .metadata.name; message is
// the violation.
func frameAdvice(path, message string) string {
	if strings.HasPrefix(message, additional) {
		return "Remove the key, or correct its name and its indentation."
	}
	if named := neededMember.FindStringSubmatch(message); named != nil {
		path += "." + named[1]
	}
	for path = itemIndex.ReplaceAllString(path, "$1"); path != ""; path = path[:strings.LastIndex(path, ".")] {
		if advice, known := frameAdvices[path]; known {
			return advice
		}
	}
	return sanityAdvice
}

const (
	layeringPath      = ".metadata.layeringDefinition"
	substitutionsPath = ".metadata.substitutions"

	manifestAdvice = "It looks like a Kubernetes manifest, which is not a document, and which Purser does not check: " +
		"docs/from-kubeconform.md says what does move."
	schemaAdvice  = "Write the schema as <namespace>/<kind>/v<n>, the first two in letters, such as acme/Widget/v1."
	booleanAdvice = "Write true or false, without quotes."
	patternAdvice = "Write an RE2 pattern of at most 4,096 bytes."
	destAdvice    = "Write dest as {path: .PATH}, with a pattern to replace a part of a string, or as a list of these."
	pathAdvice    = "Write the path as a string such as .values.password, or . for all of the data."
)

// frameAdvices has advice about values in a document's frame, by path without indexes. Paths that it lacks have the
// advice of the nearest path above them.
var frameAdvices = map[string]string{
	".schema": schemaAdvice,
	".data":   "Put the data under the key data; write data: {} if the document has none.",
	".metadata": "Write metadata as a mapping with schema, name, storagePolicy and layeringDefinition; of control " +
		"documents, such as a LayeringPolicy, with schema and name.",
	".metadata.schema": "Write metadata/Document/v1; of control documents, such as a LayeringPolicy or a DataSchema, " +
		"metadata/Control/v1.",
	".metadata.name":          "Write the name as a string of at most 255 characters; put a number in quotes.",
	".metadata.labels":        "Write labels as a mapping of strings; put numbers, true and false in quotes.",
	".metadata.replacement":   booleanAdvice,
	".metadata.storagePolicy": "Write storagePolicy as cleartext, or as encrypted for a document that holds secrets.",
	layeringPath: "Write layeringDefinition as a mapping with a layer; parentSelector and actions " +
		"only together.",
	layeringPath + ".layer":    "Write the layer as a string, one of the LayeringPolicy's layerOrder.",
	layeringPath + ".abstract": booleanAdvice,
	layeringPath + ".parentSelector": "Write parentSelector as a mapping of at least one label that the parent has, " +
		"together with actions; or leave both out.",
	layeringPath + ".actions": "Write actions as a list of at least one {method: merge, path: .}, together with " +
		"parentSelector; or leave both out.",
	layeringPath + ".actions.method":    "Write the method as merge, replace or delete.",
	layeringPath + ".actions.path":      pathAdvice,
	substitutionsPath:                   "Write substitutions as a list of mappings with src and dest.",
	substitutionsPath + ".src":          "Write src as a mapping with the schema, name and path of the source.",
	substitutionsPath + ".src.schema":   schemaAdvice,
	substitutionsPath + ".src.path":     pathAdvice,
	substitutionsPath + ".src.pattern":  patternAdvice,
	substitutionsPath + ".dest":         destAdvice,
	substitutionsPath + ".dest.path":    pathAdvice,
	substitutionsPath + ".dest.pattern": patternAdvice,
}
