package values

import (
	"purser/internal/document"
	"purser/internal/validations/jsonschema/work"
)

// Keys finds the keys of an object.
type Keys struct {
	members document.Mapping
	index   map[string]struct{} // nil if a linear search is as fast
}

// fewKeys is the number of keys up to which a linear search is faster than a map.
const fewKeys = 16

// KeysOf returns the keys of an object for the given number of searches.
func KeysOf(w work.Counter, object document.Mapping, searches int) Keys {
	if len(object) <= fewKeys || searches == 1 {
		w.Spend(len(object))
		return Keys{members: object}
	}
	w.Spend(len(object) * work.Lookup)
	index := make(map[string]struct{}, len(object))
	for _, member := range object {
		index[member.Key] = struct{}{}
	}
	return Keys{index: index}
}

// Has reports whether the object has a key.
func (k Keys) Has(key string) bool {
	if k.index != nil {
		_, ok := k.index[key]
		return ok
	}
	_, ok := k.members.Lookup(key)
	return ok
}
