package puppet

import (
	"strings"

	"purser/internal/budget"
)

// index finds the resources of a catalog by what Puppet knows them by (spec/puppet.md §3).
type index struct {
	types    *Types
	titles   map[Ref]int
	aliases  map[Ref]int
	namevars map[Ref]int
	present  map[string]bool // types that have resources
	defined  map[string]bool // those of them that are defined in the Puppet language
}

func newIndex(meter *budget.Meter, types *Types, resources []resource) (*index, error) {
	const stepsEach, bytesEach = 1500, 200
	x := &index{
		types, make(map[Ref]int, len(resources)),
		map[Ref]int{},
		make(map[Ref]int, len(resources)),
		map[string]bool{},
		map[string]bool{},
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

// add makes a resource known. Of several that have a name the first one is found by it.
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
	for _, item := range items(r.parameters.At("alias")) {
		if alias, ok := textOf(item); ok {
			put(x.aliases, Ref{r.Type, alias})
		}
	}
	if name, ok := x.nameOf(r); ok {
		put(x.namevars, name)
	}
}

// remove forgets what a resource is known by, apart from its title.
func (x *index) remove(i int, r resource) {
	drop := func(m map[Ref]int, key Ref) {
		if m[key] == i {
			delete(m, key)
		}
	}
	for _, item := range items(r.parameters.At("alias")) {
		if alias, ok := textOf(item); ok {
			drop(x.aliases, Ref{r.Type, alias})
		}
	}
	if name, ok := x.nameOf(r); ok {
		drop(x.namevars, name)
	}
}

// nameOf returns what the name variable of a resource identifies it by; ok is false if it does not.
func (x *index) nameOf(r resource) (key Ref, ok bool) {
	namevar := x.types.find(r.Type).namevar()
	if namevar == "" {
		return key, false
	}
	name, given := textOf(r.parameters.At(namevar))
	if !given {
		name = r.Title
	}
	return normal(Ref{r.Type, name}), true
}

// normal returns a reference by a name variable in its normal form: a path without slashes at its end.
func normal(ref Ref) Ref {
	if ref.Type == "File" && len(ref.Title) > 1 {
		if path := strings.TrimRight(ref.Title, "/"); path != "" {
			ref.Title = path
		} else {
			ref.Title = "/"
		}
	}
	return ref
}

// find returns the position of a resource, by its title, its alias or its name variable; ok is false if there is none.
func (x *index) find(ref Ref) (i int, ok bool) {
	if i, ok = x.titles[ref]; ok {
		return i, true
	}
	if i, ok = x.aliases[ref]; ok {
		return i, true
	}
	i, ok = x.namevars[normal(ref)]
	return i, ok
}

// namesake returns another resource that has the same name variable, ok is false if there is none.
func (x *index) namesake(i int, r resource) (other int, ok bool) {
	name, ok := x.nameOf(r)
	if !ok {
		return 0, false
	}
	other, ok = x.namevars[name]
	return other, ok && other != i
}
