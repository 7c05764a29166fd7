package validations

import (
	"purser/internal/document"
)

// hasPlainFrame reports whether a document certainly satisfies the base schema and the schema of its metadata
// (schemas/base.yaml, document.yaml, control.yaml). It is a fast path for nearly all documents and takes linear time.
// If it returns false, the schemas decide. FuzzSanity_plain compares it with them.
func hasPlainFrame(root document.Mapping) bool {
	metadata, isMapping := root.At("metadata").(document.Mapping)
	if !isMapping || !isSchemaName(root.At("schema")) {
		return false
	}
	switch metadata.At("schema") {
	case "metadata/Document/v1":
		return hasMembers(metadata, isPlainMetadata, "schema", "name", "storagePolicy", "layeringDefinition")
	case "metadata/Control/v1":
		return hasMembers(metadata, isPlainControl, "schema", "name")
	}
	return false
}

// hasMembers reports whether value is a mapping, isGood returns true for all its members, and it has the needed keys.
func hasMembers(value any, isGood func(document.Member) bool, needed ...string) bool {
	m, isMapping := value.(document.Mapping)
	if !isMapping {
		return false
	}
	found := 0
	for i := range m {
		if !isGood(m[i]) {
			return false
		}
		for _, key := range needed {
			if key == m[i].Key {
				found++
			}
		}
	}
	return found == len(needed)
}

func isPlainControl(m document.Member) bool {
	switch m.Key {
	case "schema", "name":
		return isText(m.Value)
	case "labels":
		return hasTexts(m.Value)
	}
	return isShallow(m.Value) // any value is allowed; a deep one is left to the schema, which may refuse to check it
}

func isPlainMetadata(m document.Member) bool {
	switch m.Key {
	case "schema", "name":
		return isText(m.Value)
	case "labels":
		return hasTexts(m.Value)
	case "replacement":
		return isBool(m.Value)
	case "storagePolicy":
		return m.Value == "cleartext" || m.Value == "encrypted"
	case "layeringDefinition":
		return isPlainLayering(m.Value)
	case "substitutions":
		return isListOf(m.Value, isPlainSubstitution)
	}
	return false
}

func isPlainLayering(value any) bool {
	layering, _ := value.(document.Mapping)
	selector, _ := layering.At("parentSelector").(document.Mapping)
	actions, _ := layering.At("actions").([]any)
	return (len(selector) > 0) == (len(actions) > 0) && hasMembers(value, func(m document.Member) bool {
		switch m.Key {
		case "layer":
			return isText(m.Value)
		case "abstract":
			return isBool(m.Value)
		case "parentSelector":
			return len(selector) > 0 && hasTexts(m.Value)
		case "actions":
			return len(actions) > 0 && isListOf(m.Value, isPlainAction)
		}
		return false
	}, "layer")
}

func isPlainAction(value any) bool {
	return hasMembers(value, func(m document.Member) bool {
		switch m.Key {
		case "method":
			return m.Value == "merge" || m.Value == "replace" || m.Value == "delete"
		case "path":
			return isText(m.Value)
		}
		return false
	}, "method", "path")
}

func isPlainSubstitution(value any) bool {
	return hasMembers(value, func(m document.Member) bool {
		switch m.Key {
		case "src":
			return isPlainSource(m.Value)
		case "dest":
			several, isList := m.Value.([]any)
			return isPlainDestination(m.Value) || isList && len(several) > 0 && isListOf(several, isPlainDestination)
		}
		return false
	}, "src", "dest")
}

func isPlainSource(value any) bool {
	return hasMembers(value, func(m document.Member) bool {
		switch m.Key {
		case "schema":
			return isSchemaName(m.Value)
		case "name", "path", "pattern":
			return isText(m.Value)
		}
		return false
	}, "schema", "name", "path")
}

func isPlainDestination(value any) bool {
	return hasMembers(value, func(m document.Member) bool {
		return (m.Key == "path" || m.Key == "pattern") && isText(m.Value)
	}, "path")
}

// isSchemaName reports whether value is a string of the form acme/Widget/v1.
func isSchemaName(value any) bool {
	text, _ := value.(string)
	for range 2 {
		letters := 0
		for letters < len(text) && isLetter(text[letters]) {
			letters++
		}
		if letters == 0 || letters == len(text) || text[letters] != '/' {
			return false
		}
		text = text[letters+1:]
	}
	if len(text) < len("v1") || text[0] != 'v' {
		return false
	}
	for i := 1; i < len(text); i++ {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isText(value any) bool {
	_, is := value.(string)
	return is
}

func isBool(value any) bool {
	_, is := value.(bool)
	return is
}

// hasTexts reports whether value is a mapping of strings.
func hasTexts(value any) bool {
	return hasMembers(value, func(m document.Member) bool { return isText(m.Value) })
}

// isListOf reports whether value is a list and isGood returns true for all its items.
func isListOf(value any, isGood func(any) bool) bool {
	list, isList := value.([]any)
	for _, item := range list {
		if !isGood(item) {
			return false
		}
	}
	return isList
}

// isShallow reports whether a value is a scalar, or a mapping or list of scalars.
func isShallow(value any) bool {
	switch v := value.(type) {
	case document.Mapping:
		return hasMembers(v, func(m document.Member) bool { return isScalar(m.Value) })
	case []any:
		return isListOf(v, isScalar)
	}
	return true
}

func isScalar(value any) bool {
	switch value.(type) {
	case document.Mapping, []any:
		return false
	}
	return true
}
