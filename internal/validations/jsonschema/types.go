package jsonschema

import (
	"purser/internal/document"
)

// types is a set of types, as bits; zero if a schema does not restrict the type.
type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeString
	typeArray
	typeObject
	typeNumber
	typeInteger
	typeNamed // the keyword is present
)

var typeNames = map[string]types{
	"null": typeNull, "boolean": typeBoolean, "string": typeString, "array": typeArray, "object": typeObject,
	"number": typeNumber, "integer": typeInteger,
}

// typesOf reads the keyword type.
func typesOf(held any) types {
	all := typeNamed | typeNames[Text(held)]
	for _, name := range Texts(held) {
		all |= typeNames[name]
	}
	return all
}

// has reports whether the set is empty or contains a type of the value. In Draft 4, 1.0 is not an integer; in later
// drafts it is.
func (t types) has(w counter, v any, d *draft) bool {
	if t == 0 {
		return true
	}
	switch v := v.(type) {
	case nil:
		return t&typeNull != 0
	case bool:
		return t&typeBoolean != 0
	case string:
		return t&typeString != 0
	case []any:
		return t&typeArray != 0
	case document.Mapping:
		return t&typeObject != 0
	case document.Number:
		return t&typeNumber != 0 || t&typeInteger != 0 && (!v.IsFloat() || d != draft4 && numberOf(w, v).isWhole())
	}
	return false
}
