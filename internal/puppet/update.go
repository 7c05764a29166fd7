package puppet

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
)

// change sets the parameters of the resource at an index or, if found is false, of a new one.
func (w *work) change(i int, in *Instance, e entry, at int, found bool) error {
	const bytesEach, resourceBytes = 64, 1000
	if err := w.meter.Hold(len(e.parameters)*bytesEach + resourceBytes); err != nil {
		return err
	}
	if !found {
		at = len(w.resources)
		w.resources = append(w.resources, newResource(refOf(e.Type, e.Title)))
	}
	r := &w.resources[at]
	if found {
		if r.isContainer(w.types) {
			w.report.Warnings = append(w.report.Warnings, Warning{
				r.Ref, i, "parameters of a compiled class or defined type have no effect",
			})
		}
		w.index.remove(at, *r)
	}
	settings, err := w.set(r, e)
	if err != nil {
		return err
	}
	if other, taken := w.index.namesake(at, *r); taken {
		message := fmt.Sprintf("Duplicate declaration: %v is already declared; %v cannot have the same %s",
			w.resources[other].Ref, r.Ref, w.types.find(r.Type).namevar())
		w.refuse(i, in, Problem{Path: e.path(""), Message: message})
	}
	w.index.add(at, *r)
	if in.Secret {
		*r = r.hiding(e.parameters)
	}
	w.touched[at] = true
	w.report.Changes = append(w.report.Changes, Change{r.Ref, i, !found, settings, e.path("")})
	return nil
}

const keySensitive = "sensitive_parameters"

// hiding returns the resource with these parameters made sensitive, and relationships made secret for Diff.
func (r resource) hiding(parameters document.Mapping) resource {
	var own, relations document.Mapping
	for _, p := range parameters {
		if isRelationship(p.Key) {
			relations = append(relations, p)
		} else {
			own = append(own, p)
		}
	}
	r.secretRelations = withNames(r.secretRelations, relations)
	if len(own) > 0 {
		r.value = r.value.With(keySensitive, withNames(r.value.At(keySensitive), own))
	}
	return r
}

// withNames adds the names of parameters to a list of names.
func withNames(list any, parameters document.Mapping) []any {
	names, _ := list.([]any)
	known := make(map[any]bool, len(names)+len(parameters))
	for _, name := range names {
		if text, ok := name.(string); ok {
			known[text] = true
		}
	}
	names = slices.Clip(names)
	for _, p := range parameters {
		if !known[p.Key] {
			names = append(names, p.Key)
			known[p.Key] = true
		}
	}
	return names
}

// newResource returns a resource without parameters.
func newResource(ref Ref) resource {
	tags := []any{strings.ToLower(ref.Type)}
	if tag := strings.ToLower(ref.Title); isTag.MatchString(tag) && tag != tags[0] {
		tags = append(tags, tag)
	}
	return resource{Ref: ref, kind: "compilable_type", value: document.Mapping{
		{Key: "type", Value: ref.Type},
		{Key: "title", Value: ref.Title},
		{Key: "tags", Value: tags},
		{Key: "exported", Value: false},
		{Key: "kind", Value: "compilable_type"},
	}}
}

// set sets the parameters of a resource. Relationships are added to existing ones.
func (w *work) set(r *resource, e entry) (settings []Setting, err error) {
	const newSteps, stepsEach = 1500, 300
	if err := w.meter.Spend(newSteps + (len(r.parameters)+len(e.parameters))*stepsEach); err != nil {
		return nil, err
	}
	p := newParameters(r.parameters, len(e.parameters))
	settings = make([]Setting, 0, len(e.parameters))
	for _, member := range e.parameters {
		setting := Setting{Parameter: member.Key, Value: member.Value, Default: e.defaulted[member.Key]}
		if isRelationship(member.Key) {
			var had any
			if at := p.find(member.Key); at >= 0 {
				had = p.members[at].Value
			}
			if member.Value, err = join(w.meter, had, member.Value); err != nil {
				return nil, err
			}
			setting.Added, w.related = had != nil, true
		}
		p.set(member.Key, member.Value)
		settings = append(settings, setting)
	}
	r.parameters = p.members
	return settings, nil
}

// parameters holds the parameters of a resource while Apply changes them.
type parameters struct {
	members document.Mapping
	at      map[string]int // indexes by key; nil for at most maxLinear members
}

// maxLinear is the maximum number of parameters for which find uses a linear search.
const maxLinear = 16

// newParameters copies members, with room for more.
func newParameters(members document.Mapping, more int) *parameters {
	p := &parameters{members: append(make(document.Mapping, 0, len(members)+more), members...)}
	if len(members)+more > maxLinear {
		p.at = make(map[string]int, len(members)+more)
		for i, member := range members {
			p.at[member.Key] = i
		}
	}
	return p
}

func (p *parameters) find(key string) int {
	if p.at != nil {
		if i, ok := p.at[key]; ok {
			return i
		}
		return -1
	}
	for i := range p.members {
		if p.members[i].Key == key {
			return i
		}
	}
	return -1
}

func (p *parameters) set(key string, value any) {
	if i := p.find(key); i >= 0 {
		p.members[i].Value = value
		return
	}
	if p.at != nil {
		p.at[key] = len(p.members)
	}
	p.members = append(p.members, document.Member{Key: key, Value: value})
}
