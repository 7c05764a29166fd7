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

// Types are the resource types that exist: those of Puppet itself, and those that documents describe.
type Types struct{ registered map[string]*Type }

// Type is a resource type.
type Type struct {
	Name   string // canonical
	Secret bool   // what describes it is secret

	namevars   []string
	shared     bool              // several resources may have one name variable
	parameters map[string]values // nil if their names are not checked
	schema     *jsonschema.Schema
	titles     *regexp.Regexp // that resources may be created with; nil for any
}

// values are what a parameter is limited to. The zero value limits nothing.
type values struct {
	words, aliases []string
	patterns       []*regexp.Regexp
	fold           bool // words in any case
	absolute       bool // a path
}

//go:embed core_types.txt
var coreText string

// core has the types of Puppet 7.23.0, metaparameters what every resource may have.
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
			into[words[0]] = readValues(words[1:])
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

// readValues reads what follows the name of a parameter: "= a b /regexp/ | alias".
func readValues(words []string) (v values) {
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

// NewTypes returns the types that exist where documents describe some, of several with one name the last one.
func NewTypes(described []*Type) *Types {
	types := &Types{map[string]*Type{}}
	for _, t := range described {
		types.registered[t.Name] = t
	}
	return types
}

// ParseType reads the data of a document that describes a type: name, namevar (one or several), parameters (a JSON
// Schema of all parameters; if it lists properties, and does not allow others, there are no others) and title_pattern.
// Problems say what is wrong with it. The error is the meter's, unwrapped.
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
			refuse("title_pattern", "It is no regular expression (RE2): %v", err)
		}
	}
	schema, ok := m.At("parameters").(document.Mapping)
	if !ok {
		return t, problems, nil
	}
	t.schema, err = jsonschema.Compile(meter, document.AppendJSON(nil, schema), jsonschema.Options{})
	if unusable, ok := errors.AsType[*jsonschema.Unusable](err); ok {
		refuse("parameters", "They are no usable JSON Schema: %v", unusable)
		return t, problems, nil
	}
	t.parameters = listed(schema)
	return t, problems, err
}

// listed returns the names of the parameters that a schema lists, nil if it allows others.
func listed(schema document.Mapping) map[string]values {
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

// configTitles is what resources of types such as nova_config are named by: the section and the option of a file.
var configTitles = regexp.MustCompile(`\S+/\S+`)

const configSuffix = "_config"

// find returns a type by its canonical name, nil if it is unknown. A type that ends in _config is known by that: it has
// a title of the form section/option, and any parameters (spec/puppet.md §4).
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

// isGuessed reports whether a type is known by the end of its name only.
func (t *Types) isGuessed(name string) bool {
	return t.registered[name] == nil && core[name] == nil && strings.HasSuffix(name, configSuffix)
}

// suggest names a type that may have been meant, as people write it; none that an encrypted document describes.
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

// namevar returns the parameter that identifies resources of the type, "" if there is no single one.
func (t *Type) namevar() string {
	if t == nil || t.shared || len(t.namevars) != 1 {
		return ""
	}
	return t.namevars[0]
}

func isQualified(name string) bool { return strings.Contains(name, "::") }

// isStructural reports whether resources of a type only order or hold others. They cannot be created.
func isStructural(name string) bool {
	return slices.Contains([]string{classType, "Component", "Whit", "Stage"}, name)
}

// parameterNames returns the names of a type's parameters, sorted.
func (t *Type) parameterNames() []string {
	return slices.Sorted(maps.Keys(t.parameters))
}

// describe says what a parameter is limited to, in Puppet's words.
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

// rubyRegexp writes a regular expression as Ruby shows it.
func rubyRegexp(pattern *regexp.Regexp) string {
	return "/" + strings.ReplaceAll(pattern.String(), "/", `\/`) + "/"
}
