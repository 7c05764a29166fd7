package puppet

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
