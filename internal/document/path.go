package document

import (
	"slices"
	"strconv"
	"strings"
)

// SplitPath splits a path such as .a.b[0] into its parts. The root, "." or "$", has no parts.
func SplitPath(path string) []string {
	path = strings.TrimPrefix(path, "$")
	path = strings.NewReplacer("[", ".", "]", "").Replace(path)
	return slices.DeleteFunc(strings.Split(path, "."), func(part string) bool { return part == "" })
}

// Locate returns the value at a path, or nil if there is none.
func Locate(value any, path []string) any {
	for _, part := range path {
		switch v := value.(type) {
		case Mapping:
			value = v.At(part)
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// Replace returns a copy of value with the value at a path replaced, or value itself if the path does not exist.
func Replace(value any, path []string, replacement any) any {
	if len(path) == 0 {
		return replacement
	}
	switch v := value.(type) {
	case Mapping:
		if child, ok := v.Lookup(path[0]); ok {
			return v.With(path[0], Replace(child, path[1:], replacement))
		}
	case []any:
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(v) {
			changed := slices.Clone(v)
			changed[i] = Replace(v[i], path[1:], replacement)
			return changed
		}
	}
	return value
}

// MapScalars returns a copy of a value with change applied to each scalar.
func MapScalars(value any, change func(scalar any) any) any {
	switch v := value.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = MapScalars(item, change)
		}
		return list
	case Mapping:
		m := make(Mapping, len(v))
		for i, member := range v {
			m[i] = Member{Key: member.Key, Value: MapScalars(member.Value, change)}
		}
		return m
	}
	return change(value)
}
