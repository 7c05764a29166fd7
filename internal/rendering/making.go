package rendering

// refers reports whether a document's data may be a reference that is resolved.
func (r *run) refers(n *node) bool {
	return n.encrypted && !n.control && r.options.Resolve != nil && len(n.document.Data) > 0 && n.document.Data[0] == '"'
}

// make computes a document that the cache does not have, and notes why it does not render. A document that takes more
// work than its allowance is refused alone.
func (r *run) make(n *node) error {
	r.load(n)
	if n.history != nil {
		return r.derive(n)
	}
	allowed, held := r.allowance(n), r.held
	own := r.meterFor(n, allowed)
	exceeded, err := r.confine(own, func() error { return r.derive(n) })
	if exceeded {
		r.hold(min(0, held-r.held))
		err = r.refuse(n, err)
	}
	if err != nil {
		return err
	}
	n.done, n.cost = true, min(own.Steps(), allowed)
	if len(n.refusals) > 0 && r.mayKeep(n) {
		n.destinations = nil
		r.options.Cache.keepMade(n.key, n.made)
	}
	return nil
}

// derive computes a document from what it takes from.
func (r *run) derive(n *node) error {
	if n.changes() {
		return r.change(n)
	}
	value, err := r.value(n)
	if err != nil {
		return r.refuse(n, err)
	}
	if n.size = int64(len(n.document.Data)); n.computed {
		n.size = r.sizeOf(value)
	}
	return r.stopped(n, "")
}

// load reads and measures what a document is computed from, and compiles its patterns. Documents share this work, so it
// does not count as the work of one of them. Errors are found again where it is used.
func (r *run) load(n *node) {
	read := func(from *node) {
		if value, err := r.value(from); err == nil {
			r.sizeOf(value)
		}
	}
	read(n)
	for source := range r.takenFrom(n) {
		read(source)
	}
	for i := range n.substitutions {
		s := &n.substitutions[i]
		if s.pattern != "" {
			_, _ = r.compile(s.pattern)
		}
		for j := range s.destinations {
			if s.destinations[j].pattern != "" {
				_, _ = r.compile(s.destinations[j].pattern)
			}
		}
	}
}
