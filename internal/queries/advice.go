package queries

import "strings"

// adviceOf returns advice on a broken rule, which is the type of an error or a path in a schema that ends with a
// keyword.
func adviceOf(rule string) string {
	switch rule[strings.LastIndex(rule, ".")+1:] {
	case "required", "dependencies", "dependentRequired":
		return "add the property, or correct its name"
	case "additionalProperties", "unevaluatedProperties":
		return "remove the property, or correct its name"
	case "type":
		return "write a value of the type that the schema requires"
	case "const":
		return "write the value that the schema requires"
	case "anyOf", "oneOf":
		return "make it conform to one of the schemas; the causes are those of the most likely one"
	case "enum":
		return "use one of the values that the schema lists"
	case "pattern", "format", "minLength", "maxLength":
		return "correct the string"
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return "use a number that the schema allows"
	case "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "items", "additionalItems",
		"contains", "minContains", "maxContains", "unevaluatedItems":
		return "add or remove items"
	case unknownKey:
		return "remove the key, or correct its name and its indentation"
	case "SchemaNotFound":
		return "correct the document's schema, or register a DataSchema of this name"
	case "UnresolvableReference":
		return "correct the reference, or write into the schema what it refers to"
	case "InvalidDocumentLayer":
		return "correct the layer of the document, or add it to the LayeringPolicy's layerOrder"
	case "DocumentParentNotFound", "InvalidDocumentParent", "IndeterminateDocumentParent":
		return "correct the parentSelector, or the labels of the intended parent"
	case "SubstitutionSourceNotFound":
		return "correct the source's schema and name, or add such a document that is not abstract"
	case "SubstitutionSourceDataNotFound", "MissingDocumentKey", "MissingDocumentPattern", "DocumentPatternNotFound",
		"SourcePatternNotFound":
		return "correct the path, the pattern or the source data"
	case "SubstitutionDependencyCycle":
		return "remove one of these substitutions or parents"
	case "InvalidDocumentReplacement":
		return "correct the name, the parentSelector or replacement"
	}
	return ""
}
