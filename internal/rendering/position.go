package rendering

import (
	"slices"
)

// position is the place of a value at some time.
type position struct {
	history *history
	steps   []pathStep // nothing else holds them
	// How the way back ends here: the value was written in the document's own data, or made by a change.
	own, made bool

	end int // how many changes of the history had been made
}

// at returns the position of a value in the data as it is after all changes. It takes the steps over.
func (h *history) at(steps []pathStep) position {
	return position{history: h, steps: steps, end: len(h.changes)}
}

// back follows a position one step back, to its origin. It returns the change that wrote it, nil if the document
// inherited it or wrote it. The way ends where the position says so.
func (p *position) back(m *meter) *change {
	if p.own || p.made {
		return nil
	}
	for c := p.last(m); c != nil; c = p.last(m) {
		depth := len(c.at.steps())
		switch c.kind {
		case changeWritten:
			if p.made = c.from == nil; p.made {
				return c
			}
			p.steps = append(c.from.steps(), p.steps[depth:]...)
			if p.own = c.source == nil; !p.own {
				*p = c.source.at(p.steps)
			}
			return c
		case changeSpread:
			p.steps = append(c.from.steps(), p.steps[depth:]...)
		case changeMade:
			p.made = true
			return c
		case changeInserted:
			return c
		case changePadded:
			if p.made = len(p.steps) == depth+1 && p.steps[depth].index >= c.index; p.made {
				return c
			}
		case changeRemoved:
			if len(p.steps) > depth && p.steps[depth].index >= c.index {
				p.steps[depth].index++
			}
		}
	}
	if p.own = p.history.parent == nil; !p.own {
		*p = p.history.parent.at(p.steps)
	}
	return nil
}

// last returns the last change before a position that was made at it or above it, and moves the position before it.
func (p *position) last(m *meter) *change {
	at, last := p.history.indexed(m), -1
	for i := 0; at != nil; i++ {
		m.charge(lookupCost)
		if before, _ := slices.BinarySearch(at.changes, p.end); before > 0 {
			last = max(last, at.changes[before-1])
		}
		if i == len(p.steps) || m.err != nil {
			break
		}
		at = at.below[p.steps[i]]
	}
	if last < 0 {
		return nil
	}
	p.end = last
	return &p.history.changes[last]
}
