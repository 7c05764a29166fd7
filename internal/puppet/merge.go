package puppet

import (
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
)

// Merge merges the data of overrides into the data for Hiera: configuration and configuration_options. Hashes are
// merged, and later values win. Lists of options and relationships are joined, earlier ones first; any other list is
// replaced, as in Apply. Options outside configuration_options are moved into it.
func Merge(meter *budget.Meter, overrides []document.Mapping) (document.Mapping, error) {
	configuration, options := newTree(meter, treeDepth), newTree(meter, treeDepth)
	for _, data := range overrides {
		resources, _ := data.At(keyConfiguration).(document.Mapping)
		if err := configuration.merge(resources); err != nil {
			return nil, err
		}
		given, _ := data.At(keyOptions).(document.Mapping)
		if err := options.merge(given); err != nil {
			return nil, err
		}
		beside := document.Mapping{}
		for _, name := range optionNames() {
			if value := data.At(name); !document.IsFalsy(value) || value == false {
				beside = append(beside, document.Member{Key: name, Value: value})
			}
		}
		if err := options.merge(beside); err != nil {
			return nil, err
		}
	}
	return document.Mapping{
		{Key: keyConfiguration, Value: configuration.value()}, {Key: keyOptions, Value: options.value()},
	}, meter.Check()
}

// treeDepth is the depth to which hashes are merged: type, title, parameter; for defaults: option, type, parameter.
const treeDepth = 3

// tree is a hash of hashes, merged down to a depth.
type tree struct {
	meter *budget.Meter
	depth int
	keys  []string
	at    map[string]any // *tree for a hash that is merged, otherwise the value
}

func newTree(meter *budget.Meter, depth int) *tree {
	return &tree{meter: meter, depth: depth, at: map[string]any{}}
}

func (t *tree) merge(from document.Mapping) (err error) {
	const stepsEach, bytesEach = 300, 150
	for _, member := range from {
		if err := t.meter.Spend(stepsEach); err != nil {
			return err
		}
		had, known := t.at[member.Key]
		if !known {
			t.keys = append(t.keys, member.Key)
			if err := t.meter.Hold(bytesEach); err != nil {
				return err
			}
		}
		given, isHash := member.Value.(document.Mapping)
		if !isHash || t.depth <= 1 {
			if t.at[member.Key], err = t.combine(member.Key, had, member.Value); err != nil {
				return err
			}
			continue
		}
		below, isTree := had.(*tree)
		if !isTree {
			below = newTree(t.meter, t.depth-1)
			t.at[member.Key] = below
		}
		if err := below.merge(given); err != nil {
			return err
		}
	}
	return nil
}

// combine returns the value of a key after given overrides had. It joins lists of options and relationships.
func (t *tree) combine(key string, had, given any) (any, error) {
	_, isList := given.([]any)
	_, isTree := had.(*tree)
	switch {
	case given == nil && had != nil:
		return had, nil // null removes nothing
	case isTree || had == nil:
		return given, nil
	case t.depth == 1 && isRelationship(key), isList && t.depth == treeDepth && slices.Contains(optionNames(), key):
		return join(t.meter, had, given)
	}
	return given, nil
}

func (t *tree) value() document.Mapping {
	m := make(document.Mapping, 0, len(t.keys))
	for _, key := range t.keys {
		value := t.at[key]
		if below, ok := value.(*tree); ok {
			value = below.value()
		}
		m = append(m, document.Member{Key: key, Value: value})
	}
	return m
}

// AsCatalog returns the merged data as a catalog, for Diff. Each resource has the parameters that the overrides set.
// The first one, without type and title, has the options.
func (o Overrides) AsCatalog(meter *budget.Meter) (*Catalog, error) {
	merged, err := Merge(meter, o.Data)
	if err != nil {
		return nil, err
	}
	const resourceBytes = 300
	options, _ := merged.At(keyOptions).(document.Mapping)
	secret, at := o.secretParameters(), map[Ref]int{}
	c := &Catalog{resources: []resource{{parameters: options, value: sensitive(secret[Ref{}])}}}
	configuration, _ := merged.At(keyConfiguration).(document.Mapping)
	for _, typed := range configuration {
		resources, _ := typed.Value.(document.Mapping)
		for _, titled := range resources {
			if err := meter.Hold(resourceBytes); err != nil {
				return nil, err
			}
			ref := refOf(typed.Key, titled.Key)
			parameters, _ := titled.Value.(document.Mapping)
			if i, spelt := at[ref]; spelt { // another spelling of the type
				all := newParameters(c.resources[i].parameters, len(parameters))
				for _, p := range parameters {
					all.set(p.Key, p.Value)
				}
				c.resources[i].parameters = all.members
				continue
			}
			at[ref] = len(c.resources)
			c.resources = append(c.resources, resource{Ref: ref, parameters: parameters, value: sensitive(secret[ref])})
		}
	}
	return c, nil
}

// sensitive returns the value of a resource that has only the names of its sensitive parameters.
func sensitive(names []any) document.Mapping {
	return document.Mapping{{Key: keySensitive, Value: names}}
}

// secretParameters returns the names of the parameters that secret instances set, by resource.
func (o Overrides) secretParameters() map[Ref][]any {
	secret := map[Ref][]any{}
	for i, in := range o.Instances {
		if !in.Secret {
			continue
		}
		options, _ := o.Data[i].At(keyOptions).(document.Mapping)
		secret[Ref{}] = withNames(withNames(secret[Ref{}], options), o.Data[i])
		for _, typed := range in.configuration {
			resources, _ := typed.Value.(document.Mapping)
			for _, titled := range resources {
				parameters, _ := titled.Value.(document.Mapping)
				ref := refOf(typed.Key, titled.Key)
				secret[ref] = withNames(secret[ref], parameters)
			}
		}
	}
	return secret
}
