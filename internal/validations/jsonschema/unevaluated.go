package jsonschema

// seen is the set of members or items of a value that schemas have evaluated.
type seen struct {
	all   bool
	names map[string]bool // of members
	items int             // number of first items
	some  map[int]bool    // other items, by index
}

func (s *seen) name(key string) {
	if s.names == nil {
		s.names = make(map[string]bool)
	}
	s.names[key] = true
}

func (s *seen) index(i int) {
	if s.some == nil {
		s.some = make(map[int]bool)
	}
	s.some[i] = true
}

// add adds all members and items of other.
func (s *seen) add(other seen) {
	s.all, s.items = s.all || other.all, max(s.items, other.items)
	for key := range other.names {
		s.name(key)
	}
	for i := range other.some {
		s.index(i)
	}
}

// unevaluated applies schemas to the members and items that no other schema has evaluated.
func (e *evaluation) unevaluated() {
	switch v := e.value.(type) {
	case mapping:
		if e.node.objects == nil || e.node.objects.unevaluated == nil {
			return
		}
		e.checkUnevaluated(e.node.objects.unevaluated, "unevaluatedProperties", len(v), func(i int) (step, any, bool) {
			return named(v[i].Key), v[i].Value, e.seen.names[v[i].Key]
		})
	case []any:
		if e.node.arrays == nil || e.node.arrays.unevaluated == nil {
			return
		}
		e.checkUnevaluated(e.node.arrays.unevaluated, "unevaluatedItems", len(v), func(i int) (step, any, bool) {
			return indexed(i), v[i], i < e.seen.items || e.seen.some[i]
		})
	}
}

// checkUnevaluated applies a schema to those of n members or items that are not evaluated. If the schema is false,
// they are one finding.
func (e *evaluation) checkUnevaluated(to *node, keyword string, n int, of func(i int) (at step, v any, isSeen bool)) {
	if e.seen.all {
		return
	}
	var forbidden []any
	for i := range n {
		e.spend(lookupSteps)
		at, v, isSeen := of(i)
		switch {
		case isSeen:
		case to.isFalse && at.kind == isIndex:
			forbidden = append(forbidden, v)
		case to.isFalse:
			forbidden = append(forbidden, at.name)
		default:
			e.below(to, v, at, named(keyword))
		}
	}
	if e.seen.all = true; len(forbidden) > 0 {
		e.failAs(failure{keyword: keyword, extras: forbidden})
	}
}
