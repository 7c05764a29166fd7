package puppet

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
)

// OverrideKind is the schema of documents that override resources.
const OverrideKind = "fuel/PuppetOverride/v1"

// Problem is something that is wrong with an instance or a type.
type Problem struct {
	Instance int      // its position
	Path     []string // in its data
	Message  string
	Secret   bool // the message may show something secret
}

// Instance is the data of one override, read (spec/puppet.md §1, §2).
type Instance struct {
	Name   string // "" for none; no two instances have one
	Secret bool   // its values are secret

	configuration document.Mapping
	options       options
	paths         map[string][]string // of options in the data, by their names
}

// options say which entries of a configuration are used, and how.
type options struct {
	create                 bool
	types, titles          map[string]bool // that are used, canonical; empty for all
	typesExcept, titlesExc map[string]bool // from create
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

// ParseInstance reads the data of an override: configuration, configuration_options, and options beside them, which
// count more. Null is the same as absent. Problems say what is wrong.
func ParseInstance(name string, secret bool, data any) (in Instance, problems []Problem) {
	in = Instance{Name: name, Secret: secret, paths: map[string][]string{}}
	p := instanceParser{&in, nil}
	root, ok := data.(document.Mapping)
	if !ok && data != nil {
		p.refusef(nil, "The data of an override should be a hash! Got: %s", class(data))
	}
	in.configuration = p.hash(root, keyConfiguration, "Configuration data should contain a resources hash! Got: %s")
	given := p.hash(root, keyOptions, "Options data should contain an options hash! Got: %s")
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
	problems []Problem
}

func (p *instanceParser) refusef(path []string, format string, args ...any) {
	p.problems = append(p.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...), Secret: p.instance.Secret})
}

// hash returns a member that must be a hash, nil if it is absent.
func (p *instanceParser) hash(m document.Mapping, key, message string) document.Mapping {
	value := m.At(key)
	hash, ok := value.(document.Mapping)
	if !ok && value != nil {
		p.refusef([]string{key}, message, class(value))
	}
	return hash
}

func (p *instanceParser) checkKeys(m document.Mapping, path, known []string) {
	for _, member := range m {
		if !slices.Contains(known, member.Key) {
			p.refusef(append(slices.Clip(path), member.Key), "Unknown option '%s'%s", member.Key,
				didYouMean(member.Key, known))
		}
	}
}

// lookup returns an option: what is given beside the configuration, unless that is null or, for lists and hashes,
// empty; else what the options have. It notes where that is.
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

// create returns whether missing resources are created, which is what happens unless somebody says otherwise.
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

// set returns a list as a set, of types in their canonical form. One text is a list of one.
func (p *instanceParser) set(root, given document.Mapping, key string, types bool) map[string]bool {
	value, path := p.lookup(root, given, key)
	set := map[string]bool{}
	for _, item := range items(value) {
		text, ok := textOf(item)
		if !ok {
			p.refusef(path, "The '%s' should be a list of names! Got: %s", key, class(item))
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
		p.refusef(path, "Defaults data should contain a defaults hash! Got: %s", class(value))
	}
	return defaults
}
