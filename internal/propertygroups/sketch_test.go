package propertygroups

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// yamlValue parses YAML flow text.
func yamlValue(t testing.TB, text string) any {
	t.Helper()
	value, err := document.ParseOne(t.Context(), []byte(text), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

func schemaOf(t testing.TB, text string) document.Mapping {
	t.Helper()
	m, ok := yamlValue(t, text).(document.Mapping)
	if !ok {
		t.Fatalf("%s: a mapping is expected", text)
	}
	return m
}

func groupsOf(t testing.TB, text string) *Groups {
	t.Helper()
	g, err := Parse(schemaOf(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return g
}

// objectOf parses YAML flow text into the form in which a check receives it.
func objectOf(t testing.TB, text string) map[string]any {
	t.Helper()
	return decoded(t, document.AppendJSON(nil, yamlValue(t, text)))
}

func decoded(t testing.TB, text []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return object
}

// mappingOf converts an object of encoding/json to a mapping.
func mappingOf(object map[string]any) document.Mapping {
	mapping := document.Mapping{}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		mapping = append(mapping, document.Member{Key: key, Value: valueOf(object[key])})
	}
	return mapping
}

func valueOf(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return mappingOf(v)
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = valueOf(item)
		}
		return items
	}
	return value
}

// sketch formats violations as lines: instance, keyword, message.
func sketch(found []jsonschema.Violation) string {
	var b strings.Builder
	for _, v := range found {
		fmt.Fprintf(&b, "/%s %s: %s\n", strings.Join(v.Instance, "/"), strings.Join(v.Keyword, "/"), v.Message)
	}
	return b.String()
}

// fault returns Parse's message about a schema, without its constant prefix, and the keyword.
func fault(t testing.TB, schema document.Mapping) string {
	t.Helper()
	g, err := Parse(schema)
	if err == nil {
		return ""
	}
	var m *Malformed
	if !errors.As(err, &m) || g != nil {
		t.Fatalf("%v comes with %v", err, g)
	}
	said, ok := strings.CutPrefix(m.Message, "Properties group schema incorrectly specified. ")
	if !ok {
		t.Errorf("another beginning: %s", m.Message)
	}
	return strings.Join(m.Keyword, "/") + ": " + said
}
