package puppet

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/budget"

	"purser/internal/document"
)

// OverrideKind is the schema of documents that override resources.
const OverrideKind = "fuel/PuppetOverride/v1"

// Problem is an error in an instance or a type.
type Problem struct {
	Instance int      // position of the instance
	Path     []string // in the data
	Message  string
	Secret   bool // Message may contain secrets
}

// Instance is the parsed data of one override.
type Instance struct {
	Name   string // "" if it has none; must be unique
	Secret bool   // its values are secret

	configuration document.Mapping
	options       options
	paths         map[string][]string // of each option in the data
}

// options select the entries of a configuration to apply and how to apply them.
type options struct {
	create                 bool
	types, titles          map[string]bool // canonical; empty selects all
	typesExcept, titlesExc map[string]bool // exceptions from create
	defaults               document.Mapping
}

// The keys of an instance's data.
const (
	keyConfiguration   = "configuration"
	keyOptions         = "configuration_options"
	keyCreate          = "create"
	keyTypesFilter     = "types_filter"
	keyTitlesFilter    = "titles_filter"
	keyTypesException  = "types_create_exception"
	keyTitlesException = "titles_create_exception"
	keyDefaults        = "defaults"
)

func optionNames() []string {
	return []string{keyCreate, keyTypesFilter, keyTitlesFilter, keyTypesException, keyTitlesException, keyDefaults}
}

// ParseInstance parses the data of an override: configuration, configuration_options, and options outside the latter,
// which take precedence. Null values count as absent.
func ParseInstance(meter *budget.Meter, name string, secret bool, data any) (in Instance, problems []Problem) {
	in = Instance{Name: name, Secret: secret, paths: map[string][]string{}}
	p := instanceParser{&in, meter, nil}
	root, ok := data.(document.Mapping)
	if !ok && data != nil {
		p.refusef(nil, "The data of an override should be a hash! Got: %s; write such as {configuration: {file: "+
			"{/etc/motd: {mode: '0644'}}}}", rubyClass(data))
	}
	in.configuration = p.hash(root, keyConfiguration, "Configuration data should contain a resources hash! Got: %s; "+
		"write types with titles and parameters, such as {file: {/etc/motd: {mode: '0644'}}}")
	given := p.hash(root, keyOptions, "Options data should contain an options hash! Got: %s; write such as "+
		"{create: false}")
	p.checkKeys(root, nil, append(optionNames(), keyConfiguration, keyOptions))
	p.checkKeys(given, []string{keyOptions}, optionNames())
	in.options = options{
		create: p.create(root, given),
		types:  p.set(root, given, keyTypesFilter, true), titles: p.set(root, given, keyTitlesFilter, false),
		typesExcept: p.set(root, given, keyTypesException, true),
		titlesExc:   p.set(root, given, keyTitlesException, false),
		defaults:    p.defaults(root, given),
	}
	return in, p.problems
}

type instanceParser struct {
	instance *Instance
	meter    *budget.Meter
	problems []Problem
}

// The costs of a problem and of a byte of its message, in steps.
const (
	problemSteps = 2_000
	messageSteps = 5
)

func (p *instanceParser) refusef(path []string, format string, args ...any) {
	problem := Problem{Path: path, Message: fmt.Sprintf(format, args...), Secret: p.instance.Secret}
	p.meter.Charge(problemSteps + messageSteps*len(problem.Message))
	p.problems = append(p.problems, problem)
}

// hash returns a member that must be a hash, or nil if it is absent.
func (p *instanceParser) hash(m document.Mapping, key, message string) document.Mapping {
	value := m.At(key)
	hash, ok := value.(document.Mapping)
	if !ok && value != nil {
		p.refusef([]string{key}, message, rubyClass(value))
	}
	return hash
}

func (p *instanceParser) checkKeys(m document.Mapping, path, known []string) {
	for _, member := range m {
		if !slices.Contains(known, member.Key) {
			p.refusef(append(slices.Clip(path), member.Key), "Unknown option '%s'%s", member.Key,
				didYouMean(p.meter, member.Key, known))
		}
	}
}

// lookup returns an option and its path, which it also stores: the top-level value, unless it is null or an empty list
// or hash, otherwise the value in configuration_options.
func (p *instanceParser) lookup(root, given document.Mapping, key string) (value any, path []string) {
	value = root.At(key)
	empty := value == nil
	switch v := value.(type) {
	case []any:
		empty = len(v) == 0
	case document.Mapping:
		empty = len(v) == 0
	}
	if !empty {
		path = []string{key}
	} else {
		value, path = given.At(key), []string{keyOptions, key}
	}
	p.instance.paths[key] = path
	return value, path
}

// create returns the option create, which is true by default.
func (p *instanceParser) create(root, given document.Mapping) bool {
	value, path := p.lookup(root, given, keyCreate)
	if value == nil {
		return true
	}
	text, _ := textOf(value)
	if _, isNumber := value.(document.Number); !isNumber {
		switch strings.ToLower(text) {
		case "true", "yes":
			return true
		case "false", "no":
			return false
		}
	}
	p.refusef(path, "Invalid value %s. Valid values are true, false, yes, no.", shown(value))
	return false
}

// set returns an option that is a list or a single string as a set. If types is true, the items are names of types and
// are made canonical.
func (p *instanceParser) set(root, given document.Mapping, key string, types bool) map[string]bool {
	value, path := p.lookup(root, given, key)
	set := map[string]bool{}
	for _, item := range items(value) {
		text, ok := textOf(item)
		if !ok {
			p.refusef(path, "The '%s' should be a list of names! Got: %s", key, rubyClass(item))
			continue
		}
		if name, ok := canonical(text); ok && types {
			text = name
		}
		set[text] = true
	}
	return set
}

func (p *instanceParser) defaults(root, given document.Mapping) document.Mapping {
	value, path := p.lookup(root, given, keyDefaults)
	defaults, ok := value.(document.Mapping)
	if !ok && value != nil {
		p.refusef(path, "Defaults data should contain a defaults hash! Got: %s", rubyClass(value))
	}
	return defaults
}
