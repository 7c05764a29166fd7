package puppet

import (
	"fmt"
	"slices"

	"purser/internal/budget"
)

// maxProblems bounds the problems of one call; a last one counts the others.
const maxProblems = 100

// Result is what Apply returns: a catalog and a report or, if anything is wrong, problems alone.
type Result struct {
	Catalog  *Catalog
	Report   Report
	Problems []Problem
}

// Apply overrides resources of a catalog by instances in their order; later ones see what earlier ones did. It does all
// or nothing: a Result with problems has no catalog. Errors are the meter's, unwrapped.
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
	if w.problems.list == nil {
		if err := w.checkRelationships(instances, catalog); err != nil {
			return Result{}, err
		}
	}
	if w.problems.list != nil {
		return Result{Problems: w.problems.all()}, nil
	}
	return Result{Catalog: w.outcome(catalog), Report: w.report}, nil
}

// problemList collects problems up to a bound.
type problemList struct {
	list []Problem
	more int // beyond the bound
}

func (l *problemList) full() bool { return len(l.list) >= maxProblems }

func (l *problemList) add(problem Problem) {
	if l.full() {
		l.list[maxProblems-1].Secret = l.list[maxProblems-1].Secret || problem.Secret
		l.more++
		return
	}
	l.list = append(l.list, problem)
}

// all returns the problems; the last one of too many says how many others there are.
func (l *problemList) all() []Problem {
	if l.more > 0 {
		last := &l.list[maxProblems-1]
		last.Message = fmt.Sprintf("%s (and %d more problems)", last.Message, l.more)
	}
	return l.list
}

// work is one call of Apply.
type work struct {
	meter     *budget.Meter
	types     *Types
	index     *index
	resources []resource
	touched   map[int]bool // resources that were changed or created
	related   bool         // relationships were changed
	report    Report
	problems  problemList
}

// checkNames notes instances that have the name of another.
func (w *work) checkNames(instances []Instance) {
	known := map[string]bool{}
	for i, in := range instances {
		if in.Name != "" && known[in.Name] {
			w.problems.add(Problem{
				Instance: i, Secret: in.Secret,
				Message: fmt.Sprintf("Duplicate declaration: Override_resources[%s] is already declared", in.Name),
			})
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
	for _, problem := range problems {
		problem.Instance = i
		w.problems.add(problem)
	}
	return err
}

// apply updates the resource that an entry is about, or creates it.
func (w *work) apply(i int, in *Instance, e entry) error {
	ref := refOf(e.Type, e.Title)
	at, found := w.index.find(ref)
	checked := w.types.find(e.Type)
	if !found {
		switch message, skip := w.decide(in, e, checked); {
		case message != "":
			w.problems.add(Problem{i, e.path(""), message, in.Secret})
			return nil
		case skip != "":
			w.report.Skipped = append(w.report.Skipped, Skip{e.Ref, i, skip})
			return nil
		}
	} else if ref = w.resources[at].Ref; w.resources[at].isContainer(w.types) {
		checked = nil
	}
	complaints, err := checkParameters(w.meter, checked, ref, e.parameters, !found)
	if err != nil {
		return err
	}
	for _, c := range complaints {
		w.problems.add(Problem{i, e.path(c.parameter), c.message, in.Secret || c.secret})
	}
	if !found && checked != nil {
		if message := checked.checkTitle(ref, e.parameters); message != "" {
			w.problems.add(Problem{i, e.path(""), message, in.Secret || checked.Secret})
		}
	}
	return w.change(i, in, e, at, found)
}

// decide returns what is wrong with an entry whose resource is not in the catalog, or why it is skipped; nothing if the
// resource is to be created. t is its type, nil if that is unknown.
func (w *work) decide(in *Instance, e entry, t *Type) (wrong, skip string) {
	const notFound = "Resource type '%s' was not found"
	switch {
	case t == nil && !w.index.present[e.Type] && w.problems.full():
		return fmt.Sprintf(notFound, e.typeKey), ""
	case t == nil && !w.index.present[e.Type]:
		return fmt.Sprintf(notFound, e.typeKey) + w.types.suggest(w.meter, e.typeKey), ""
	case !in.options.creates(e.Ref):
		return "", in.options.whyNot(e.Ref)
	case isStructural(e.Type), t == nil && (isQualified(e.Type) || w.index.defined[e.Type]):
		return fmt.Sprintf(notFound, e.typeKey) + ": classes and defined types cannot be created in a compiled catalog; " +
			"override the resources that they would declare", ""
	}
	return "", ""
}

// creates reports whether a missing resource is created.
func (o options) creates(ref Ref) bool {
	except := o.typesExcept[ref.Type] || o.titlesExc[ref.Title]
	return o.create != except
}

// whyNot says why a missing resource is not created.
func (o options) whyNot(ref Ref) string {
	switch {
	case !o.create:
		return "not in the catalog, and create is false"
	case o.typesExcept[ref.Type]:
		return "not in the catalog, and excepted by " + keyTypesException
	}
	return "not in the catalog, and excepted by " + keyTitlesException
}

// outcome returns the catalog with what was changed.
func (w *work) outcome(catalog *Catalog) *Catalog {
	for i := range w.touched {
		if r := &w.resources[i]; len(r.parameters) > 0 {
			r.value = r.value.With("parameters", r.parameters)
		}
	}
	return &Catalog{catalog.root, w.resources}
}
