package rendering

// refers reports whether a document's data may be a reference that is resolved.
func (r *run) refers(n *node) bool {
	return n.Encrypted && !n.Control && r.options.Resolve != nil && len(n.Document.Data) > 0 && n.Document.Data[0] == '"'
}

// make computes a document that the cache does not have, and notes why it does not render. A document that takes more
// work than its allowance is refused alone.
func (r *run) make(n *node) error {
	r.load(n)
	if n.history != nil {
		return r.derive(n)
	}
	allowed, held := r.allowance(n), r.Held
	own := r.meterFor(n, allowed)
	exceeded, err := r.Confine(own, func() error { return r.derive(n) })
	if exceeded {
		r.Hold(min(0, held-r.Held))
		err = r.refuse(n, err)
	}
	if err != nil {
		return err
	}
	n.done, n.cost = true, min(own.Steps(), allowed)
	if len(n.refusals) > 0 && r.mayKeep(n) {
		r.options.Cache.add(n.key, &made{sizes: n.sizes, notes: n.notes, cost: n.cost}, 0)
	}
	return nil
}

// derive computes a document from what it takes from.
func (r *run) derive(n *node) error {
	if n.Changes() {
		return r.change(n)
	}
	value, err := r.value(n)
	if err != nil {
		return r.refuse(n, err)
	}
	if n.size = int64(len(n.Document.Data)); n.computed {
		n.size = r.memo.SizeOf(value)
	}
	return r.stopped(n, "")
}

// load reads and measures what a document is computed from, and compiles its patterns. Documents share this work, so it
// does not count as the work of one of them. Errors are found again where it is used.
func (r *run) load(n *node) {
	read := func(from *node) {
		if value, err := r.value(from); err == nil {
			r.memo.SizeOf(value)
		}
	}
	read(n)
	r.eachSource(n, read)
	for i := range n.Substitutions {
		s := &n.Substitutions[i]
		if s.Pattern != "" {
			_, _ = r.patterns.Compile(s.Pattern)
		}
		for j := range s.Destinations {
			if s.Destinations[j].Pattern != "" {
				_, _ = r.patterns.Compile(s.Destinations[j].Pattern)
			}
		}
	}
}
