package puppet

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// TypeKind is the schema of documents that describe resource types.
const TypeKind = "fuel/PuppetType/v1"

// Types are the known resource types: those of Puppet itself, and those that documents describe.
type Types struct{ registered map[string]*Type }

// Type is a resource type.
type Type struct {
	Name   string // canonical
	Secret bool   // described by an encrypted document

	namevars   []string
	shared     bool              // resources may share a name variable
	parameters map[string]values // nil if any names are allowed
	schema     *jsonschema.Schema
	titles     *regexp.Regexp // allowed titles of new resources; nil for any
}

// values describe the values that a parameter may have. The zero value allows all.
type values struct {
	words, aliases []string
	patterns       []*regexp.Regexp
	fold           bool // words match in any case
	absolute       bool // an absolute path is required
}

//go:embed core_types.txt
var coreText string

// core has the types of Puppet 7.23.0. metaparameters are those of all resources.
var core, metaparameters = readCore(coreText) //nolint:gochecknoglobals // never change after start

const metaparametersHeader = "metaparameters"

func readCore(text string) (types map[string]*Type, meta map[string]values) {
	types, meta = map[string]*Type{}, map[string]values{}
	into := meta
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case line[0] == ' ':
			into[words[0]] = parseValues(words[1:])
		case words[0] == metaparametersHeader:
			into = meta
		default:
			t := &Type{Name: capitalised(words[0]), namevars: words[1:], parameters: map[string]values{}}
			if last := len(words) - 1; words[last] == "shared" {
				t.namevars, t.shared = words[1:last], true
			}
			types[t.Name], into = t, t.parameters
		}
	}
	return types, meta
}

// parseValues parses the text after the name of a parameter: "= a b /regexp/ | alias".
func parseValues(words []string) (v values) {
	for i, word := range words {
		switch {
		case word == "bool":
			v.words, v.fold = []string{"true", "false", "yes", "no"}, true
		case word == "absolute":
			v.absolute = true
		case word == "|":
			v.aliases = words[i+1:]
			return v
		case len(word) > 1 && word[0] == '/':
			v.patterns = append(v.patterns, regexp.MustCompile(word[1:len(word)-1]))
		case word != "=":
			v.words = append(v.words, word)
		}
	}
	return v
}

// NewTypes returns Puppet's own types and the described ones. If several have the same name, the last one wins.
func NewTypes(described []*Type) *Types {
	types := &Types{map[string]*Type{}}
	for _, t := range described {
		types.registered[t.Name] = t
	}
	return types
}

// ParseType parses the data of a document that describes a type: name, namevar (one or several), parameters (a JSON
// Schema; only its properties are allowed, unless it allows others) and title_pattern. The only errors are those of
// meter, returned unwrapped.
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
		if t.titles, err = regexp.Compile(pattern); err != nil {
			refuse("title_pattern", "It is not a regular expression (RE2): %v", err)
		}
	}
	schema, ok := m.At("parameters").(document.Mapping)
	if !ok {
		return t, problems, nil
	}
	t.schema, err = jsonschema.Compile(meter, document.AppendJSON(nil, schema), jsonschema.Options{})
	if unusable, ok := errors.AsType[*jsonschema.Unusable](err); ok {
		refuse("parameters", "They are not a usable JSON Schema: %v", unusable)
		return t, problems, nil
	}
	t.parameters = allowedNames(schema)
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

// configTitles matches the titles of types such as nova_config: the section and the option of a file.
var configTitles = regexp.MustCompile(`\S+/\S+`)

const configSuffix = "_config"

// find returns the type with a canonical name, or nil if it is unknown. An unknown type whose name ends in _config has
// titles of the form section/option and allows any parameters (spec/puppet.md §4).
func (t *Types) find(name string) *Type {
	if found := t.registered[name]; found != nil {
		return found
	}
	if found := core[name]; found != nil {
		return found
	}
	if strings.HasSuffix(name, configSuffix) && !isQualified(name) {
		return &Type{Name: name, namevars: []string{"name"}, titles: configTitles}
	}
	return nil
}

// isGuessed reports whether a type is known only by its suffix _config.
func (t *Types) isGuessed(name string) bool {
	return t.registered[name] == nil && core[name] == nil && strings.HasSuffix(name, configSuffix)
}

// suggest returns a question for the type that is most similar to word, or "" if none is similar. It does not suggest
// types that encrypted documents describe.
func (t *Types) suggest(meter *budget.Meter, word string) string {
	const steps = 200_000
	meter.Charge(steps)
	var names []string
	for name, registered := range t.registered {
		if !registered.Secret {
			names = append(names, strings.ToLower(name))
		}
	}
	for name := range core {
		names = append(names, strings.ToLower(name))
	}
	slices.Sort(names)
	return didYouMean(word, names)
}

// namevar returns the name variable, the parameter that identifies a resource, or "" if there is not exactly one.
func (t *Type) namevar() string {
	if t == nil || t.shared || len(t.namevars) != 1 {
		return ""
	}
	return t.namevars[0]
}

func isQualified(name string) bool { return strings.Contains(name, "::") }

// isStructural reports whether resources of a type only order or contain others. Such resources cannot be created.
func isStructural(name string) bool {
	return slices.Contains([]string{classType, "Component", "Whit", "Stage"}, name)
}

// parameterNames returns the names of a type's parameters, sorted.
func (t *Type) parameterNames() []string {
	return slices.Sorted(maps.Keys(t.parameters))
}

// describe returns a sentence about the allowed values, in Puppet's words.
func (v values) describe() (text string) {
	if len(v.words) > 0 {
		text += fmt.Sprintf(" Valid values are %s.", strings.Join(v.words, ", "))
	}
	var patterns []string
	for _, pattern := range v.patterns {
		patterns = append(patterns, rubyRegexp(pattern))
	}
	if patterns != nil {
		text += fmt.Sprintf(" Valid values match %s.", strings.Join(patterns, ", "))
	}
	return text
}

// rubyRegexp formats a regular expression as Ruby does.
func rubyRegexp(pattern *regexp.Regexp) string {
	return "/" + strings.ReplaceAll(pattern.String(), "/", `\/`) + "/"
}
