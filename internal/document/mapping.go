package document

import "slices"

// mappingBuilder builds a Mapping. A duplicate key replaces the value but keeps its position.
type mappingBuilder struct {
	members Mapping
	places  []int          // where the members' keys are, in terms of the caller; 0 if merged
	at      map[string]int // indexes of members by key; nil for up to fewMembers
}

// fewMembers is the maximum number of members for which find uses a linear search.
const fewMembers = 16

func newMappingBuilder(merged Mapping, size int) mappingBuilder {
	size += len(merged)
	b := mappingBuilder{members: make(Mapping, 0, size), places: make([]int, 0, size)}
	for _, m := range merged {
		b.set(m.Key, m.Value, 0)
	}
	return b
}

// set sets a member. It returns the place where the same key appeared earlier in the mapping, or 0 if it did not.
func (b *mappingBuilder) set(key string, value any, place int) (first int) {
	if i := b.find(key); i >= 0 {
		b.members[i].Value = value
		first, b.places[i] = b.places[i], place
		return first
	}
	b.members = append(b.members, Member{key, value})
	b.places = append(b.places, place)
	switch n := len(b.members); {
	case b.at != nil:
		b.at[key] = n - 1
	case n > fewMembers:
		b.at = make(map[string]int, 2*n)
		for i, m := range b.members {
			b.at[m.Key] = i
		}
	}
	return 0
}

// find returns the index of a key, or -1 if there is none.
func (b *mappingBuilder) find(key string) int {
	if b.at == nil {
		return slices.IndexFunc(b.members, func(m Member) bool { return m.Key == key })
	}
	if i, ok := b.at[key]; ok {
		return i
	}
	return -1
}
