package puppet

import (
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
)

// Catalog is a compiled catalog. It is immutable.
type Catalog struct {
	root      document.Mapping
	resources []resource
}

// resource is a resource of a catalog.
type resource struct {
	Ref

	value      document.Mapping // the whole resource
	parameters document.Mapping // value's "parameters"
	kind       string           // compilable_type, class, defined_type, unknown; "" in old catalogs

	// secretRelations are the relationships that secret instances set. Puppet does not accept them as sensitive.
	secretRelations []any
}

// Read parses the JSON text printed by "puppet catalog compile NODE --render-as json", with or without the notice on
// its first line. Faults: Invalid if the text is not a catalog, TooLarge if the budget is exceeded.
func Read(meter *budget.Meter, text []byte) (*Catalog, error) {
	value, err := parseCatalog(meter, text)
	if err != nil {
		return nil, err
	}
	root, ok := value.(document.Mapping)
	if !ok {
		return nil, malformed("The catalog is not a JSON object but %s; send the output of \"puppet catalog compile "+
			"NODE --render-as json\"", shown(value))
	}
	list, ok := root.At("resources").([]any)
	switch key := duplicateKey(root); {
	case key != "":
		return nil, malformed("The catalog has the key %s twice", key)
	case !ok:
		return nil, malformed("The catalog has no list of resources; send the output of \"puppet catalog compile NODE " +
			"--render-as json\"")
	}
	const resourceBytes, resourceSteps = 160, 500
	if err := meter.Hold(len(list) * resourceBytes); err != nil {
		return nil, err
	}
	c := &Catalog{root, make([]resource, len(list))}
	known := make(map[Ref]bool, len(list))
	for i, item := range list {
		if err := meter.Spend(resourceSteps); err != nil {
			return nil, err
		}
		if c.resources[i], err = resourceOf(item, i); err != nil {
			return nil, err
		}
		if ref := c.resources[i].Ref; known[ref] {
			return nil, malformed("Duplicate declaration: %v is already declared in the catalog", ref)
		}
		known[c.resources[i].Ref] = true
	}
	return c, nil
}

func resourceOf(item any, i int) (r resource, err error) {
	value, ok := item.(document.Mapping)
	typ, isType := value.At("type").(string)
	title, isTitle := value.At("title").(string)
	if !ok || !isType || !isTitle {
		return r, malformed("Resource %d of the catalog (counted from 0) has no type and title", i)
	}
	if key := duplicateKey(value); key != "" {
		return r, malformed("Resource %s[%s] of the catalog has the key %s twice", typ, title, key)
	}
	r = resource{Ref: refOf(typ, title), value: value}
	r.kind, _ = value.At("kind").(string)
	if given, ok := value.Lookup("parameters"); ok && given != nil {
		if r.parameters, ok = given.(document.Mapping); !ok {
			return r, malformed("The parameters of %v in the catalog are not a hash but %s", r.Ref, shown(given))
		}
	}
	if key := duplicateKey(r.parameters); key != "" {
		return r, malformed("%v in the catalog has the parameter %s twice", r.Ref, key)
	}
	return r, nil
}

// isContainer reports whether the resource is a class or of a defined type. The compiler has already expanded its body.
func (r resource) isContainer(types *Types) bool {
	switch r.kind {
	case "class", "defined_type":
		return true
	case "compilable_type":
		return false
	}
	return r.Type == classType || isQualified(r.Type) && types.find(r.Type) == nil
}

// Parameters returns the parameters of a resource, and whether the catalog has the resource.
func (c *Catalog) Parameters(ref Ref) (document.Mapping, bool) {
	i := slices.IndexFunc(c.resources, func(r resource) bool { return r.Ref == ref })
	if i < 0 {
		return nil, false
	}
	return c.resources[i].parameters, true
}

// JSON returns the catalog as JSON text.
func (c *Catalog) JSON(meter *budget.Meter) (text []byte, err error) {
	text = append(text, '{')
	for i, member := range c.root {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(document.AppendJSON(text, member.Key), ':')
		if member.Key != "resources" {
			text = document.AppendJSON(text, member.Value)
			continue
		}
		text = append(text, '[')
		for i, r := range c.resources {
			if i > 0 {
				text = append(text, ',')
			}
			if text, err = appendJSON(meter, text, r.value); err != nil {
				return nil, err
			}
		}
		text = append(text, ']')
	}
	return append(text, '}', '\n'), nil
}

// duplicateKey returns a key that occurs more than once in a mapping, "" if there is none.
func duplicateKey(m document.Mapping) string {
	const maxLinear = 16
	if len(m) > maxLinear {
		seen := make(map[string]bool, len(m))
		for _, member := range m {
			if seen[member.Key] {
				return member.Key
			}
			seen[member.Key] = true
		}
		return ""
	}
	for i, member := range m {
		for _, other := range m[:i] {
			if other.Key == member.Key {
				return member.Key
			}
		}
	}
	return ""
}
