package puppet

import "purser/internal/document"

// Report says what became of a catalog, in the order in which it happened. Instances are positions in the list that
// Apply took.
type Report struct {
	Changes  []Change
	Skipped  []Skip
	Warnings []Warning
}

// Change is what one instance did to one resource.
type Change struct {
	Ref      Ref // with the title that the catalog has
	Instance int
	Created  bool
	Settings []Setting

	path []string // in the data of the instance
}

// Setting is a parameter that was set.
type Setting struct {
	Parameter string
	Value     any
	Default   bool // it comes from the defaults of the instance
	Added     bool // it was added to what the resource had: a relationship
}

// Skip is an entry of a configuration that was not used.
type Skip struct {
	Ref      Ref // without a title for all resources of a type
	Instance int
	Reason   string
}

// Warning is about something that was done, but has no effect or may not be meant.
type Warning struct {
	Ref      Ref
	Instance int
	Message  string
}

// Explain returns what instances did to one resource.
func (r Report) Explain(ref Ref) (changes []Change) {
	for _, change := range r.Changes {
		if change.Ref == ref {
			changes = append(changes, change)
		}
	}
	return changes
}

// parameters are those of a resource while they are set one by one.
type parameters struct {
	members document.Mapping
	at      map[string]int // nil for few
}

// few bounds the parameters that are searched one by one.
const few = 16

// copyOf returns parameters that can be set, with room for more.
func copyOf(members document.Mapping, more int) *parameters {
	p := &parameters{members: append(make(document.Mapping, 0, len(members)+more), members...)}
	if len(members)+more > few {
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
