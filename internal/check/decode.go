package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/words"
)

// DecodeOptions is Decode for a configuration file, in which no option has an empty value. Such a value is probably a
// mistake, and is refused as on the command line.
func DecodeOptions(ctx context.Context, text []byte, into any) error {
	read, err := parse(ctx, text)
	if root, isMapping := read.(document.Mapping); isMapping && err == nil {
		err = noneEmpty("", root)
	}
	if err != nil {
		return err
	}
	return decode(read, into)
}

// noneEmpty returns an error if the value at a path is empty, or one in it. An empty list or mapping is not.
func noneEmpty(path string, value any) error {
	switch value := value.(type) {
	case nil, string:
		if value == nil || value == "" {
			return fmt.Errorf("%s has no value; give it one, or leave it out", path)
		}
	case []any:
		for _, item := range value {
			if err := noneEmpty("an item of "+path, item); err != nil {
				return err
			}
		}
	case document.Mapping:
		for _, m := range value {
			if err := noneEmpty(strings.TrimPrefix(path+"."+m.Key, "."), m.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

// Decode reads YAML into a struct with the names of JSON, and no others. A text without a document leaves it as it is.
// Errors are in the words of YAML.
func Decode(ctx context.Context, text []byte, into any) error {
	read, err := parse(ctx, text)
	if err != nil {
		return err
	}
	return decode(read, into)
}

func parse(ctx context.Context, text []byte) (any, error) {
	read, err := document.ParseOne(ctx, text, document.YAML, document.DefaultLimits())
	if err != nil {
		return nil, errors.New(document.Details(err))
	}
	return read, nil
}

func decode(read, into any) error {
	if read == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(document.AppendJSON(nil, read)))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at := ""
		if wrong.Field != "" {
			at = wrong.Field + ": "
		}
		return fmt.Errorf("%s%s is expected, and not %s", at, kindOf(wrong.Type), kindOfJSON(wrong.Value))
	}
	if err == nil {
		return nil
	}
	name, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	if !unknown {
		return err //nolint:wrapcheck // the callers do
	}
	names := fieldsOf(reflect.TypeOf(into))
	if nearest := words.Nearest(strings.Trim(name, `"`), names); nearest != "" {
		return fmt.Errorf("unknown option %s: did you mean %s?", name, nearest)
	}
	return fmt.Errorf("unknown option %s; the options are %s", name, strings.Join(names, ", "))
}

// fieldsOf returns the names of JSON of the fields of a type and of the types in it, in order.
func fieldsOf(of reflect.Type) (names []string) {
	switch of.Kind() { //nolint:exhaustive // the others have none
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return fieldsOf(of.Elem())
	case reflect.Struct:
		for field := range of.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
				names = append(append(names, name), fieldsOf(field.Type)...)
			}
		}
	}
	slices.Sort(names)
	return names
}

// kindOf returns YAML's name for the values of a type.
func kindOf(of reflect.Type) string {
	switch of.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	default:
		return "a mapping"
	}
}

// kindOfJSON returns what YAML calls what json calls number, number 1.5, string, bool, array or object.
func kindOfJSON(value string) string {
	word, _, _ := strings.Cut(value, " ")
	return map[string]string{
		"number": "a number", "string": "a string", "bool": "true or false", "array": "a list", "object": "a mapping",
	}[word]
}
