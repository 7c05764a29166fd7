package puppet

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
)

// exclusion is a set of conditions of which no resource meets all.
type exclusion struct {
	conditions []condition
	sentence   string // the reason; it quotes no values, which other documents may have set
}

// condition is a condition on one parameter.
type condition struct {
	parameter string
	first     bool          // of a list, only the first item counts
	opposite  bool          // the condition must not hold
	allowed   []alternative // nil if the parameter need only be given
	refused   bool          // an item that is not allowed is searched for, instead of one that is
}

// isAbout reports whether the exclusion has a condition on the parameter that is set.
func (x exclusion) isAbout(s Setting) bool {
	return slices.ContainsFunc(x.conditions, func(c condition) bool { return c.parameter == s.Parameter })
}

// message returns why the resource is refused.
func (x exclusion) message(ref Ref) string {
	return fmt.Sprintf("Validation of %v failed: %s", ref, x.sentence)
}

// holds reports whether a resource is known to meet all conditions. get returns the value of a parameter, and whether
// the value is known; a parameter that is known not to be given has the value nil.
func (x exclusion) holds(get func(parameter string) (value any, known bool)) bool {
	for _, c := range x.conditions {
		value, known := get(c.parameter)
		if !known || isRich(value) && c.allowed != nil || c.met(value) == c.opposite {
			return false
		}
	}
	return true
}

// met reports whether a value meets the condition, without regard to opposite.
func (c condition) met(value any) bool {
	if value == nil {
		return false
	}
	if c.allowed == nil {
		return true
	}
	list := items(value)
	if c.first {
		list = append(slices.Clip(list), nil)[:1]
	}
	return slices.ContainsFunc(list, func(item any) bool {
		if nested, ok := item.([]any); ok && !c.first && len(nested) > 0 {
			item = nested[0]
		}
		return accepts(c.allowed, item) != c.refused
	})
}

// excluded returns the exclusions whose conditions a resource meets. If it is not the whole resource, nothing is known
// about the parameters that it lacks.
func (t *Type) excluded(meter *budget.Meter, ref Ref, parameters document.Mapping, whole bool) (
	found []exclusion, err error,
) {
	const stepsPerLookup = 20
	get := func(parameter string) (any, bool) {
		value, given := t.valueOf(parameters, parameter)
		if !given && whole && parameter == t.namevars[0] {
			return ref.Title, true
		}
		return value, given || whole
	}
	for _, x := range t.never {
		for _, c := range x.conditions {
			value, _ := get(c.parameter)
			if err := meter.Spend(len(parameters)*stepsPerLookup + costOf(c.allowed, value)); err != nil {
				return nil, err
			}
		}
		if x.holds(get) {
			found = append(found, x)
		}
	}
	return found, nil
}

// checkWhole adds a problem for each exclusion whose conditions a resource meets after all changes, if an instance
// created the resource or set one of the parameters. It belongs to the last such change.
func (w *work) checkWhole(instances []Instance) (err error) {
	var found []Problem
	unassigned := map[Ref][]exclusion{}
	for _, change := range slices.Backward(w.report.Changes) {
		excluded, judged := unassigned[change.Ref]
		if !judged {
			if excluded, err = w.excluded(change.Ref); err != nil {
				return err
			}
		}
		unassigned[change.Ref] = slices.DeleteFunc(excluded, func(x exclusion) bool {
			concerned := change.Created || slices.ContainsFunc(change.Settings, x.isAbout)
			if concerned {
				secret := instances[change.Instance].Secret
				found = append(found, Problem{change.Instance, change.path, x.message(change.Ref), secret})
			}
			return concerned
		})
	}
	for _, problem := range slices.Backward(found) {
		w.problems.add(problem)
	}
	return nil
}

// excluded returns the exclusions whose conditions a resource meets.
func (w *work) excluded(ref Ref) ([]exclusion, error) {
	r, t := w.resources[w.index.titles[ref]], w.types.find(ref.Type)
	if t == nil || r.isContainer(w.types) {
		return nil, nil
	}
	found, err := t.excluded(w.meter, ref, r.parameters, true)
	if w.lacksBucket(r) {
		found = append(found, exclusion{
			[]condition{{parameter: "backup"}}, "Could not find the filebucket specified in backup; add it, or write false",
		})
	}
	return found, err
}

// lacksBucket reports whether a resource is a file that needs a filebucket which the catalog lacks.
func (w *work) lacksBucket(r resource) bool {
	backup := r.parameters.At("backup")
	if list, _ := backup.([]any); len(list) > 0 {
		backup = list[0]
	}
	bucket, isText := backup.(string)
	if !isText || r.Type != "File" || strings.HasPrefix(bucket, ".") ||
		slices.Contains([]string{"true", "false", "puppet"}, bucket) {
		return false
	}
	_, found := w.index.find(Ref{"Filebucket", bucket})
	return !found
}
