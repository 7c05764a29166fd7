package puppet

import (
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
)

// entry is a resource in the configuration of an instance, after filters and defaults.
type entry struct {
	Ref

	typeKey    string           // the type as the configuration spells it
	parameters document.Mapping // including defaults
	defaulted  map[string]bool  // the parameters that come from defaults
}

func (e entry) path(parameter string) []string {
	path := []string{keyConfiguration, e.typeKey, e.Title}
	if parameter != "" {
		path = append(path, parameter)
	}
	return path
}

// walker visits the resources of a configuration.
type walker struct {
	instanceParser

	visit func(entry) error
	skip  func(ref Ref, filter string)
}

// walk calls visit for each entry that passes the instance's filters, in the order of the configuration, and skip for
// the others; the title is "" if a whole type is omitted. The problems are about the form of the configuration. The
// only errors are those of visit and of meter, returned unwrapped.
func (in *Instance) walk(meter *budget.Meter, visit func(entry) error, skip func(ref Ref, filter string)) (
	problems []Problem, err error,
) {
	w := walker{instanceParser{instance: in, meter: meter}, visit, skip}
	allDefaults, err := w.defaultsByType()
	if err != nil {
		return nil, err
	}
	for _, typed := range in.configuration {
		if err := meter.Spend(walkSteps); err != nil {
			return nil, err
		}
		name, resources, ok := w.parseType(typed)
		switch {
		case !ok:
		case len(in.options.types) > 0 && !in.options.types[name]:
			skip(Ref{Type: name}, keyTypesFilter)
		case len(resources) > 0: // defaults are checked only if they are used
			defaults, err := w.mergeDefaults(typed.Key, allDefaults[name])
			if err != nil {
				return nil, err
			}
			if err := w.resources(entry{Ref: Ref{Type: name}, typeKey: typed.Key}, resources, defaults); err != nil {
				return nil, err
			}
		}
	}
	return w.problems, nil
}

// walkSteps is the cost of visiting one type or title.
const walkSteps = 300

// resources visits the resources of one type. of is an entry with that type.
func (w *walker) resources(of entry, resources, defaults document.Mapping) error {
	for _, titled := range resources {
		if err := w.meter.Spend(walkSteps); err != nil {
			return err
		}
		of.Title = titled.Key
		e, ok := w.parseResource(of, titled.Value)
		if !ok {
			continue
		}
		if titles := w.instance.options.titles; len(titles) > 0 && !titles[e.Title] {
			w.skip(e.Ref, keyTitlesFilter)
			continue
		}
		e, err := e.withDefaults(w.meter, defaults)
		if err != nil {
			return err
		}
		if err := w.visit(e); err != nil {
			return err
		}
	}
	return nil
}

// parseType returns the name and the resources of one type of a configuration. ok is false if either is invalid.
func (p *instanceParser) parseType(typed document.Member) (name string, resources document.Mapping, ok bool) {
	name, isName := canonical(typed.Key)
	resources, isHash := typed.Value.(document.Mapping)
	path := []string{keyConfiguration, typed.Key}
	switch {
	case typed.Key == "":
		p.refusef(path, "The 'type' should be the name of the Puppet type and not be empty! Got: \"\"")
	case !isHash:
		p.refusef(path, "The 'resources' should be a hash with the override Puppet resources! Got: %s; write titles with "+
			"their parameters, such as {/etc/motd: {mode: '0644'}}", shown(typed.Value))
	case !isName:
		p.refusef(path, "The 'type' should be the name of the Puppet type, such as file or nova_config! Got: %s",
			shown(typed.Key))
	}
	return name, resources, isHash && isName
}

// parseResource returns e with its parameters, and whether these and the title are valid.
func (p *instanceParser) parseResource(e entry, parameters any) (entry, bool) {
	of, isHash := parameters.(document.Mapping)
	switch {
	case e.Title == "":
		p.refusef(e.path(""), "The 'title' should be the title of the Puppet resource and should not be empty! Got: \"\"")
	case !isHash:
		p.refusef(e.path(""), "The 'parameters' should be a hash of the resource parameters! Got: %s; write such as "+
			"{mode: '0644'}, or {} for none", shown(parameters))
	}
	e.parameters = of
	return e, isHash && e.Title != ""
}

// defaultsByType groups the defaults by the canonical name of their type, which may be spelt in several ways.
func (p *instanceParser) defaultsByType() (map[string][]document.Member, error) {
	const stepsEach = 1000
	given := map[string][]document.Member{}
	for _, typed := range p.instance.options.defaults {
		if err := p.meter.Spend(stepsEach); err != nil {
			return nil, err
		}
		if name, ok := canonical(typed.Key); ok {
			given[name] = append(given[name], typed)
		}
	}
	return given, nil
}

// mergeDefaults merges the defaults of one type.
func (p *instanceParser) mergeDefaults(key string, given []document.Member) (defaults document.Mapping, err error) {
	for _, typed := range given {
		of, ok := typed.Value.(document.Mapping)
		if !ok {
			p.refusef(append(slices.Clone(p.instance.paths[keyDefaults]), typed.Key),
				"Default for the type: %s should be a hash of parameters. Got: %s", key, shown(typed.Value))
		}
		e, err := entry{parameters: of}.withDefaults(p.meter, defaults)
		if err != nil {
			return nil, err
		}
		defaults = e.parameters
	}
	return defaults, nil
}

// withDefaults adds the defaults for parameters that the entry does not set.
func (e entry) withDefaults(meter *budget.Meter, defaults document.Mapping) (entry, error) {
	const stepsEach, bytesEach = 100, 64
	if len(defaults) == 0 {
		return e, nil
	}
	if err := meter.Hold((len(defaults) + len(e.parameters)) * bytesEach); err != nil {
		return e, err
	}
	own := make(map[string]bool, len(e.parameters))
	for _, p := range e.parameters {
		own[p.Key] = true
	}
	merged := make(document.Mapping, 0, len(defaults)+len(e.parameters))
	e.defaulted = map[string]bool{}
	for _, p := range defaults {
		if !own[p.Key] {
			merged = append(merged, p)
			e.defaulted[p.Key] = true
		}
	}
	meter.Charge((len(defaults) + len(e.parameters)) * stepsEach)
	e.parameters = append(merged, e.parameters...)
	return e, nil
}
