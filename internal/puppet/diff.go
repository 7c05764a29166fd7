package puppet

import (
	"bytes"

	"purser/internal/budget"
	"purser/internal/document"
)

// Difference is the difference of one resource between two catalogs.
type Difference struct {
	Ref        Ref
	Added      bool // only the later catalog has the resource
	Removed    bool // only the earlier catalog has the resource
	Parameters []Altered
}

// Altered is a parameter that differs. From or To is nil if the parameter is not set.
type Altered struct {
	Name      string
	From, To  any
	Sensitive bool // the parameter is sensitive or a secret instance set it, so From and To are nil
}

// Diff returns the differences between two versions of a catalog: first the resources of before, in its order, then
// those that only after has.
func Diff(meter *budget.Meter, before, after *Catalog) (differences []Difference, err error) {
	const stepsEach, bytesEach = 300, 100
	if err := meter.Hold(len(after.resources) * bytesEach); err != nil {
		return nil, err
	}
	now := make(map[Ref]*resource, len(after.resources))
	for i := range after.resources {
		now[after.resources[i].Ref] = &after.resources[i]
	}
	was := make(map[Ref]bool, len(before.resources))
	for i := range before.resources {
		if err := meter.Spend(stepsEach); err != nil {
			return nil, err
		}
		r := &before.resources[i]
		was[r.Ref] = true
		differs, err := r.differs(meter, now[r.Ref])
		if err != nil {
			return nil, err
		}
		if differs.Removed || differs.Parameters != nil {
			differences = append(differences, differs)
		}
	}
	for i := range after.resources {
		if r := &after.resources[i]; !was[r.Ref] {
			differs, err := resource{Ref: r.Ref}.differs(meter, r)
			if err != nil {
				return nil, err
			}
			differs.Added = true
			differences = append(differences, differs)
		}
	}
	return differences, nil
}

// differs compares r with its later version, which is nil if the resource was removed.
func (r resource) differs(meter *budget.Meter, now *resource) (d Difference, err error) {
	const stepsEach = 200
	d.Ref = r.Ref
	if now == nil {
		d.Removed = true
		return d, nil
	}
	if sameMembers(r.parameters, now.parameters) {
		return d, nil
	}
	meter.Charge((len(r.parameters) + len(now.parameters)) * stepsEach)
	later, earlier := membersOf(now.parameters), membersOf(r.parameters)
	pairs := make([]Altered, 0, len(r.parameters)+len(now.parameters))
	for _, p := range r.parameters {
		pairs = append(pairs, Altered{Name: p.Key, From: p.Value, To: later[p.Key]})
	}
	for _, p := range now.parameters {
		if _, had := earlier[p.Key]; !had {
			pairs = append(pairs, Altered{Name: p.Key, To: p.Value})
		}
	}
	sensitive := sensitiveOf(r.value.At(keySensitive), now.value.At(keySensitive), r.secretRelations, now.secretRelations)
	for _, pair := range pairs {
		from, to := document.AppendJSON(nil, pair.From), document.AppendJSON(nil, pair.To)
		if err := meter.Spend((len(from) + len(to)) * byteSteps); err != nil {
			return d, err
		}
		switch {
		case bytes.Equal(from, to):
		case sensitive[pair.Name]:
			d.Parameters = append(d.Parameters, Altered{Name: pair.Name, Sensitive: true})
		default:
			d.Parameters = append(d.Parameters, pair)
		}
	}
	return d, nil
}

// sensitiveOf returns the parameters that at least one list names.
func sensitiveOf(lists ...any) map[string]bool {
	sensitive := map[string]bool{}
	for _, list := range lists {
		names, _ := list.([]any)
		for _, name := range names {
			if text, ok := name.(string); ok {
				sensitive[text] = true
			}
		}
	}
	return sensitive
}

// sameMembers reports whether two mappings share the memory of their members.
func sameMembers(a, b document.Mapping) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func membersOf(m document.Mapping) map[string]any {
	members := make(map[string]any, len(m))
	for _, member := range m {
		members[member.Key] = member.Value
	}
	return members
}
