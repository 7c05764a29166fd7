package puppet

import (
	"fmt"
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
)

// isRelationship reports whether a metaparameter orders resources. Overrides add to its value instead of replacing it.
func isRelationship(parameter string) bool {
	switch parameter {
	case "before", "notify", "require", "subscribe":
		return true
	}
	return false
}

// isBackwards reports whether a resource with the relationship comes after the resources that it refers to.
func isBackwards(parameter string) bool { return parameter == "require" || parameter == "subscribe" }

// flatten returns the items of nested lists in order.
func flatten(value any) (all []any) {
	list, ok := value.([]any)
	if !ok {
		return items(value)
	}
	for _, item := range list {
		if item == nil {
			all = append(all, nil)
		}
		all = append(all, flatten(item)...)
	}
	return all
}

// checkReferences returns the problem with the value of a relationship, or "" if it is valid.
func checkReferences(value any) string {
	for _, item := range flatten(value) {
		text, ok := item.(string)
		if ok {
			_, ok = ParseRef(text)
		}
		if !ok {
			return fmt.Sprintf("No title provided and %s is not a valid resource reference; write Type[title]", shown(item))
		}
	}
	return ""
}

// referenceKey returns a key that is equal for all spellings of a reference. Other scalars are their own keys.
func referenceKey(item any) any {
	switch v := item.(type) {
	case string:
		if ref, ok := ParseRef(v); ok {
			return ref
		}
	case document.Mapping:
		return document.DigestOf(v)
	}
	return item
}

// join returns the references in had followed by those in more that had lacks.
func join(meter *budget.Meter, had, more any) (any, error) {
	const stepsEach, bytesEach = 300, 64
	list, added := flatten(had), flatten(more)
	n := len(list) + len(added)
	meter.Charge(n * stepsEach)
	if err := meter.Hold(n * bytesEach); err != nil {
		return nil, err
	}
	known := make(map[any]bool, n)
	for _, item := range list {
		known[referenceKey(item)] = true
	}
	before := len(list)
	for _, item := range added {
		if key := referenceKey(item); !known[key] {
			known[key] = true
			list = append(list, item)
		}
	}
	_, isText := more.(string)
	switch {
	case had != nil && len(list) == before:
		return had, nil
	case isText && len(list) == 1:
		return more, nil
	}
	return list, nil
}

// checkRelationships adds problems for references of changed resources to missing ones and, if a relationship changed,
// for dependency cycles.
func (w *work) checkRelationships(instances []Instance, catalog *Catalog) error {
	last := map[Ref]int{} // last changes of resources; problems of the catalog's own relationships belong to them
	for i, change := range w.report.Changes {
		last[change.Ref] = i
	}
	for i, change := range w.report.Changes {
		problem := Problem{Instance: change.Instance, Secret: instances[change.Instance].Secret, Path: change.path}
		for _, s := range change.Settings {
			if err := w.checkTargets(change.Ref, s.Parameter, s.Value, problem); err != nil {
				return err
			}
		}
		at := w.index.titles[change.Ref]
		if last[change.Ref] != i || at >= len(catalog.resources) {
			continue
		}
		problem.Path = nil
		for _, p := range catalog.resources[at].parameters {
			if err := w.checkTargets(change.Ref, p.Key, p.Value, problem); err != nil {
				return err
			}
		}
	}
	if w.problems.List != nil || !w.related {
		return nil
	}
	return w.checkCycles(instances, catalog)
}

// checkTargets adds a problem for each reference to a missing resource if the parameter is a relationship. like is the
// problem without its message; its path is that of the resource, nil if there is none.
func (w *work) checkTargets(of Ref, parameter string, value any, like Problem) error {
	const stepsEach, targetSteps = 300, 500
	if err := w.meter.Spend(stepsEach); err != nil || !isRelationship(parameter) {
		return err
	}
	if like.Path != nil {
		like.Path = append(slices.Clone(like.Path), parameter)
	}
	for _, item := range flatten(value) {
		if err := w.meter.Spend(targetSteps); err != nil {
			return err
		}
		text, _ := item.(string)
		ref, ok := ParseRef(text)
		if _, found := w.index.find(ref); ok && !found {
			like.Message = fmt.Sprintf("Could not retrieve dependency '%v' of %v", ref, of)
			w.problems.add(like)
		}
	}
	return nil
}

// checkCycles adds a problem for dependency cycles. It belongs to the last instance that changed a relationship.
func (w *work) checkCycles(instances []Instance, catalog *Catalog) error {
	graph, err := w.dependencies(catalog)
	if err != nil {
		return err
	}
	message, err := graph.describeCycles(w.meter, w.resources)
	if err != nil || message == "" {
		return err
	}
	secret := slices.ContainsFunc(instances, func(in Instance) bool { return in.Secret })
	w.problems.add(Problem{Instance: w.lastRelating(), Message: message, Secret: secret})
	return nil
}

// lastRelating returns the last instance that changed a relationship.
func (w *work) lastRelating() int {
	for _, change := range slices.Backward(w.report.Changes) {
		if slices.ContainsFunc(change.Settings, func(s Setting) bool { return isRelationship(s.Parameter) }) {
			return change.Instance
		}
	}
	return 0
}
