package rendering

import (
	"slices"

	"purser/internal/document"
)

// place is the position of a value in a document's data, from its last part to its first. It is nil if positions are
// not recorded; then those below it are nil too.
type place struct {
	in *place // nil for the root
	step
}

// placeSize is the memory of a place, in bytes.
const placeSize = 64

func (p *place) key(key string) *place {
	if p == nil {
		return nil
	}
	return &place{p, step{kind: byKey, key: key}}
}

func (p *place) index(index int) *place {
	if p == nil {
		return nil
	}
	return &place{p, step{kind: byIndex, index: index}}
}

// item is the place of an item of a container, which is immutable.
func (p *place) item(container any, at int) *place {
	if p == nil {
		return nil
	}
	if m, ok := container.(document.Mapping); ok {
		return p.key(m[at].Key)
	}
	return p.index(at)
}

// String writes the place as a path.
func (p *place) String() string { return pathOf(p.steps()) }

// steps returns the steps that lead to the place. The caller may change them.
func (p *place) steps() (steps []step) {
	for ; p.in != nil; p = p.in {
		steps = append(steps, p.step)
	}
	slices.Reverse(steps)
	return steps
}
