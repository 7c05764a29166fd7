package puppet

import "purser/internal/document"

// Report lists what Apply did, in order. Instances are positions in its list of instances.
type Report struct {
	Changes  []Change
	Skipped  []Skip
	Warnings []Warning
}

// Change is a change of one resource by one instance.
type Change struct {
	Ref      Ref // with the title in the catalog
	Instance int
	Created  bool
	Settings []Setting

	path []string // in the instance's data
}

// Setting is a parameter that was set.
type Setting struct {
	Parameter string
	Value     any
	Default   bool // it comes from the instance's defaults
	Added     bool // a relationship that was added to the resource's own
}

// Skip is an entry of a configuration that was not applied.
type Skip struct {
	Ref      Ref // the title is "" if a whole type was skipped
	Instance int
	Reason   string
}

// Warning is about a change that has no effect or may be a mistake.
type Warning struct {
	Ref      Ref
	Instance int
	Message  string
}

// Explain returns the changes of one resource.
func (r Report) Explain(ref Ref) (changes []Change) {
	for _, change := range r.Changes {
		if change.Ref == ref {
			changes = append(changes, change)
		}
	}
	return changes
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
