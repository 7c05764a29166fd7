package puppet

import (
	"fmt"
	"slices"

	"purser/internal/budget"
)

// maxProblems bounds the problems that one call returns. The last one states how many were omitted.
const maxProblems = 100

// Result is the result of Apply: a catalog and a report, or only problems.
type Result struct {
	Catalog  *Catalog
	Report   Report
	Problems []Problem
}

// Apply applies instances to a catalog in order. Each instance sees the changes of those before it. If there are
// problems, the result has no catalog.
func Apply(meter *budget.Meter, catalog *Catalog, instances []Instance, types *Types) (Result, error) {
	index, err := newIndex(meter, types, catalog.resources)
	if err != nil {
		return Result{}, err
	}
	w := &work{
		meter: meter, types: types, index: index, resources: slices.Clone(catalog.resources), touched: map[int]bool{},
	}
	w.checkNames(instances)
	for i := range instances {
		if err := w.run(i, &instances[i]); err != nil {
			return Result{}, err
		}
	}
	if err := w.checkWhole(instances); err != nil {
		return Result{}, err
	}
	if w.problems.List == nil {
		if err := w.checkRelationships(instances, catalog); err != nil {
			return Result{}, err
		}
	}
	if w.problems.List != nil {
		return Result{Problems: w.problems.All()}, nil
	}
	return Result{Catalog: w.result(catalog), Report: w.report}, nil
}

// work is the state of one call of Apply.
type work struct {
	meter     *budget.Meter
	types     *Types
	index     *index
	resources []resource
	touched   map[int]bool // resources that were changed or created
	related   bool         // a relationship was set
	report    Report
	problems  Problems
}

// checkNames adds a problem for each instance with the same name as an earlier one.
func (w *work) checkNames(instances []Instance) {
	known := map[string]bool{}
	for i, in := range instances {
		if in.Name != "" && known[in.Name] {
			message := fmt.Sprintf("Duplicate declaration: Override_resources[%s] is already declared", in.Name)
			w.refuse(i, &in, Problem{Message: message})
		}
		known[in.Name] = true
	}
}

// run applies one instance.
func (w *work) run(i int, in *Instance) error {
	visit := func(e entry) error { return w.apply(i, in, e) }
	skip := func(ref Ref, filter string) {
		w.report.Skipped = append(w.report.Skipped, Skip{ref, i, "left out by " + filter})
	}
	problems, err := in.walk(w.meter, visit, skip)
	w.refuse(i, in, problems...)
	return err
}

// refuse adds problems with an instance.
func (w *work) refuse(i int, in *Instance, problems ...Problem) {
	for _, problem := range problems {
		problem.Instance, problem.Secret = i, problem.Secret || in.Secret
		w.problems.add(problem)
	}
}

// apply updates the resource that an entry names, or creates it.
func (w *work) apply(i int, in *Instance, e entry) error {
	ref := refOf(e.Type, e.Title)
	at, found := w.index.find(ref)
	checked := w.types.find(e.Type)
	if !found {
		switch message, skip := w.decide(in, e, checked); {
		case message != "":
			w.refuse(i, in, Problem{Path: e.path(""), Message: message})
			return nil
		case skip != "":
			w.report.Skipped = append(w.report.Skipped, Skip{e.Ref, i, skip})
			return nil
		}
	} else if ref = w.resources[at].Ref; w.resources[at].isContainer(w.types) {
		checked = nil
	}
	problems, err := checkParameters(w.meter, checked, ref, e, !found)
	if err != nil {
		return err
	}
	if !found && checked != nil {
		message, err := checked.checkTitle(w.meter, ref, e.parameters)
		if err != nil {
			return err
		}
		if message == "" {
			message = w.types.checkPurged(ref, e.parameters, w.index.present)
		}
		if message != "" {
			problems = append(problems, Problem{Path: e.path(""), Message: message, Secret: checked.Secret})
		}
	}
	w.refuse(i, in, problems...)
	return w.change(i, in, e, at, found)
}

// decide decides about an entry whose resource is not in the catalog: wrong is a problem with it, skip is the reason to
// skip it, and the resource is created if both are empty. t is the resource's type, nil if it is unknown.
func (w *work) decide(in *Instance, e entry, t *Type) (wrong, skip string) {
	skip = in.options.skipReason(e.Ref)
	switch {
	case t == nil && !w.index.present[e.Type]:
		return w.types.notFound(w.meter, e.typeKey, !w.problems.Full()), ""
	case skip != "":
		return "", skip
	case isStructural(e.Type), t == nil && (isQualified(e.Type) || w.index.defined[e.Type]):
		return fmt.Sprintf("Resource type '%s' was not found: classes and defined types cannot be created in a compiled "+
			"catalog; override the resources that they would declare", e.typeKey), ""
	}
	return "", ""
}

// skipReason returns why the options do not allow creating a missing resource, "" if they do.
func (o options) skipReason(ref Ref) string {
	ofType := o.typesExcept[ref.Type]
	switch {
	case o.create != (ofType || o.titlesExc[ref.Title]):
		return ""
	case !o.create:
		return "not in the catalog, and create is false"
	case ofType:
		return "not in the catalog, and excepted by " + keyTypesException
	}
	return "not in the catalog, and excepted by " + keyTitlesException
}

// result returns a catalog with the changed resources.
func (w *work) result(catalog *Catalog) *Catalog {
	for i := range w.touched {
		if r := &w.resources[i]; len(r.parameters) > 0 {
			r.value = r.value.With("parameters", r.parameters)
		}
	}
	return &Catalog{catalog.root, w.resources}
}
