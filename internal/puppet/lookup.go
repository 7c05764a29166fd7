package puppet

import (
	"strings"

	"purser/internal/budget"
)

// index finds resources of a catalog by their title, alias or name variable.
type index struct {
	types    *Types
	titles   map[Ref]int
	aliases  map[Ref]int
	namevars map[Ref]int
	present  map[string]bool // types with at least one resource
	defined  map[string]bool // types that are defined in the Puppet language
}

func newIndex(meter *budget.Meter, types *Types, resources []resource) (*index, error) {
	const stepsEach, bytesEach = 1500, 200
	x := &index{
		types: types, titles: make(map[Ref]int, len(resources)), aliases: map[Ref]int{},
		namevars: make(map[Ref]int, len(resources)), present: map[string]bool{}, defined: map[string]bool{},
	}
	if err := meter.Hold(len(resources) * bytesEach); err != nil {
		return nil, err
	}
	for i, r := range resources {
		if err := meter.Spend(stepsEach); err != nil {
			return nil, err
		}
		x.add(i, r)
	}
	return x, nil
}

// add adds a resource. If several have the same key, the first one keeps it.
func (x *index) add(i int, r resource) {
	put := func(m map[Ref]int, key Ref) {
		if _, taken := m[key]; !taken {
			m[key] = i
		}
	}
	put(x.titles, r.Ref)
	x.present[r.Type] = true
	if r.kind == "defined_type" {
		x.defined[r.Type] = true
	}
	x.eachName(r, put)
}

// eachName calls f with each alias and with the name variable of a resource, and with the map that has it.
func (x *index) eachName(r resource, f func(m map[Ref]int, key Ref)) {
	for _, item := range items(r.parameters.At("alias")) {
		if alias, ok := textOf(item); ok {
			f(x.aliases, Ref{r.Type, alias})
		}
	}
	if name, ok := x.nameOf(r); ok {
		f(x.namevars, name)
	}
}

// remove removes the aliases and the name variable of a resource, but not its title, which never changes.
func (x *index) remove(i int, r resource) {
	x.eachName(r, func(m map[Ref]int, key Ref) {
		if m[key] == i {
			delete(m, key)
		}
	})
}

// nameOf returns the reference given by a resource's name variable. ok is false if the type has none.
func (x *index) nameOf(r resource) (key Ref, ok bool) {
	namevar := x.types.find(r.Type).namevar()
	if namevar == "" {
		return key, false
	}
	value, _ := x.types.find(r.Type).valueOf(r.parameters, namevar)
	name, given := textOf(value)
	if !given {
		name = r.Title
	}
	return normalize(Ref{r.Type, name}), true
}

// normalize returns ref without trailing slashes in the path of a file, so that equal paths give equal references.
func normalize(ref Ref) Ref {
	if ref.Type == "File" && len(ref.Title) > 1 {
		if path := strings.TrimRight(ref.Title, "/"); path != "" {
			ref.Title = path
		} else {
			ref.Title = "/"
		}
	}
	return ref
}

// find returns the position of the resource with a title, alias or name variable. ok is false if there is none.
func (x *index) find(ref Ref) (i int, ok bool) {
	if i, ok = x.titles[ref]; ok {
		return i, true
	}
	if i, ok = x.aliases[ref]; ok {
		return i, true
	}
	i, ok = x.namevars[normalize(ref)]
	return i, ok
}

// namesake returns the position of another resource with the same name variable. ok is false if there is none.
func (x *index) namesake(i int, r resource) (other int, ok bool) {
	name, ok := x.nameOf(r)
	if !ok {
		return 0, false
	}
	other, ok = x.namevars[name]
	return other, ok && other != i
}
