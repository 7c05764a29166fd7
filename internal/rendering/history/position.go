package history

import (
	"slices"

	"purser/internal/rendering/meter"
	"purser/internal/rendering/paths"
)

// Position is the place of a value at some time.
type Position struct {
	History *History
	Steps   []paths.Step // nothing else holds them
	// How the way back ends here: the value was written in the document's own data, or made by a change.
	Own, Made bool

	end int // how many changes of the history had been made
}

// At returns the position of a value in the data as it is after all changes. It takes the steps over.
func (h *History) At(steps []paths.Step) Position {
	return Position{History: h, Steps: steps, end: len(h.changes)}
}

// Back follows a position one step back, to its origin. It returns the change that wrote it, nil if the document
// inherited it or wrote it. The way ends where the position says so.
func (p *Position) Back(m *meter.Meter) *Change {
	if p.Own || p.Made {
		return nil
	}
	for c := p.last(m); c != nil; c = p.last(m) {
		depth := len(c.At.Steps())
		switch c.Kind {
		case Written:
			if p.Made = c.From == nil; p.Made {
				return c
			}
			p.Steps = append(c.From.Steps(), p.Steps[depth:]...)
			if p.Own = c.Source == nil; !p.Own {
				*p = c.Source.At(p.Steps)
			}
			return c
		case Spread:
			p.Steps = append(c.From.Steps(), p.Steps[depth:]...)
		case Made:
			p.Made = true
			return c
		case Inserted:
			return c
		case Padded:
			if p.Made = len(p.Steps) == depth+1 && p.Steps[depth].Index >= c.Index; p.Made {
				return c
			}
		case Removed:
			if len(p.Steps) > depth && p.Steps[depth].Index >= c.Index {
				p.Steps[depth].Index++
			}
		}
	}
	if p.Own = p.History.Parent == nil; !p.Own {
		*p = p.History.Parent.At(p.Steps)
	}
	return nil
}

// last returns the last change before a position that was made at it or above it, and moves the position before it.
func (p *Position) last(m *meter.Meter) *Change {
	at, last := p.History.indexed(m), -1
	for i := 0; at != nil; i++ {
		m.Charge(meter.Lookup)
		if before, _ := slices.BinarySearch(at.changes, p.end); before > 0 {
			last = max(last, at.changes[before-1])
		}
		if i == len(p.Steps) || m.Err != nil {
			break
		}
		at = at.below[p.Steps[i]]
	}
	if last < 0 {
		return nil
	}
	p.end = last
	return &p.History.changes[last]
}
