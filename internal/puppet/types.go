package puppet

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/regex"
	"purser/internal/validations/jsonschema"
)

// TypeKind is the schema of documents that describe resource types.
const TypeKind = "fuel/PuppetType/v1"

// Types are the known resource types: those of Puppet itself, and those that documents describe.
type Types struct {
	registered map[string]*Type
	names      []string // to suggest, in lower case
}

// Type is a resource type.
type Type struct {
	Name   string // canonical
	Secret bool   // described by an encrypted document

	namevars   []string
	shared     bool              // resources may share a name variable
	parameters map[string]values // nil if any names are allowed
	never      []exclusion
	schema     *jsonschema.Schema
	titles     *regex.Expression // allowed titles of new resources; nil for any
}

// NewTypes returns Puppet's own types and the described ones. If several have the same name, the last one wins.
func NewTypes(described []*Type) *Types {
	types := &Types{registered: map[string]*Type{}}
	for _, t := range described {
		types.registered[t.Name] = t
	}
	for name, t := range types.registered {
		if !t.Secret {
			types.names = append(types.names, strings.ToLower(name))
		}
	}
	for name := range core().types {
		types.names = append(types.names, strings.ToLower(name))
	}
	slices.Sort(types.names)
	return types
}

// Only returns types that have only some of the described ones, but suggest the names of all.
func (t *Types) Only(described []*Type) *Types {
	some := &Types{make(map[string]*Type, len(described)), t.names}
	for _, of := range described {
		some.registered[of.Name] = of
	}
	return some
}

// IsOwn reports whether a canonical name is that of one of Puppet's own types.
func IsOwn(name string) bool { return core().types[name] != nil }

// ParseType parses the data of a document that describes a type: name, namevar (one or several), parameters (a JSON
// Schema; only its properties are allowed, unless it allows others) and title_pattern.
func ParseType(meter *budget.Meter, data any) (t *Type, problems []Problem, err error) {
	m, _ := data.(document.Mapping)
	refuse := func(key, format string, args ...any) {
		problems = append(problems, Problem{Path: []string{key}, Message: fmt.Sprintf(format, args...)})
	}
	spelt, _ := m.At("name").(string)
	name, ok := canonical(spelt)
	if !ok {
		refuse("name", "The name of a Puppet type is expected, such as nova_config, and not %s", shown(m.At("name")))
		return nil, problems, nil
	}
	t = &Type{Name: name}
	for _, item := range items(m.At("namevar")) {
		if text, ok := item.(string); ok {
			t.namevars = append(t.namevars, text)
		}
	}
	if t.namevars == nil {
		t.namevars = []string{"name"}
	}
	if pattern, ok := m.At("title_pattern").(string); ok {
		if t.titles, err = regex.Compile(meter, pattern); err != nil {
			refuse("title_pattern", "It is not a regular expression (RE2): %v", err)
		}
		if err = meter.Spend(0); err != nil {
			return nil, nil, err
		}
	}
	schema, ok := m.At("parameters").(document.Mapping)
	if !ok {
		return t, problems, nil
	}
	text := document.AppendJSON(nil, schema)
	own := meter.ForDocument(len(text))
	compiled, err := jsonschema.Compile(own, text, jsonschema.Options{})
	err = own.Done(err)
	if unusable, ok := errors.AsType[*jsonschema.Unusable](err); ok {
		refuse("parameters", "They are not a usable JSON Schema: %v", unusable)
		return t, problems, nil
	}
	if budget.IsAlone(err) {
		refuse("parameters", "Reading them takes too much work, so overrides are not checked by them: simplify them")
		return t, problems, nil
	}
	t.schema, t.parameters = compiled, allowedNames(schema)
	return t, problems, err
}

// allowedNames returns the properties of a schema of parameters, or nil if it allows others.
func allowedNames(schema document.Mapping) map[string]values {
	properties, ok := schema.At("properties").(document.Mapping)
	if others, given := schema.Lookup("additionalProperties"); !ok || given && others != false {
		return nil
	}
	if _, given := schema.Lookup("patternProperties"); given {
		return nil
	}
	names := map[string]values{}
	for _, property := range properties {
		names[property.Key] = values{}
	}
	return names
}

// find returns the type with a canonical name, or nil if it is unknown: neither Puppet nor a document describes it.
func (t *Types) find(name string) *Type {
	if found := t.registered[name]; found != nil {
		return found
	}
	return core().types[name]
}

// notFound returns a message about an unknown type. It suggests a similar one, but none that encrypted documents
// describe, and only if there is room for the message, because that takes time.
func (t *Types) notFound(meter *budget.Meter, word string, room bool) string {
	hint := ""
	if room {
		hint = didYouMean(meter, word, t.names)
	}
	return fmt.Sprintf("Resource type '%s' was not found%s; describe it with a "+TypeKind, word, hint)
}

// checkPurged returns why a Resources cannot be created, or "" if it can: the type that it names is neither known nor
// among those present.
func (t *Types) checkPurged(ref Ref, parameters document.Mapping, present map[string]bool) string {
	if ref.Type != "Resources" {
		return ""
	}
	name, _ := t.find(ref.Type).valueOf(parameters, nameParameter)
	if name == nil {
		name = ref.Title
	}
	text, _ := name.(string)
	found, ok := canonical(text)
	if ok && (t.find(found) != nil || present[found] || isStructural(found) && found != classType) {
		return ""
	}
	return fmt.Sprintf("Parameter name failed on %v: Could not find resource type %s; describe it with a "+TypeKind, ref,
		shown(name))
}

// namevar returns the name variable, the parameter that identifies a resource, or "" if there is not exactly one.
func (t *Type) namevar() string {
	if t == nil || t.shared || len(t.namevars) != 1 {
		return ""
	}
	return t.namevars[0]
}

// nameParameter is another name of each type's name variable.
const nameParameter = "name"

// valueOf returns the value of a parameter. given is false if the parameters lack it.
func (t *Type) valueOf(parameters document.Mapping, name string) (value any, given bool) {
	if value, given = parameters.Lookup(name); !given && t != nil && len(t.namevars) == 1 && name == t.namevars[0] {
		return parameters.Lookup(nameParameter)
	}
	return value, given
}

func isQualified(name string) bool { return strings.Contains(name, "::") }

// isStructural reports whether resources of a type only order or contain others. Such resources cannot be created.
func isStructural(name string) bool {
	return slices.Contains([]string{classType, "Component", "Whit", "Stage"}, name)
}

// parameterNames returns the names of a type's parameters, sorted, of a type with very many none.
func (t *Type) parameterNames() []string {
	const most = 500 // Puppet's own types have fewer than a hundred
	if len(t.parameters) > most {
		return nil
	}
	return slices.Sorted(maps.Keys(t.parameters))
}
