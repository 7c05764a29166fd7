package rendering

import (
	"slices"

	"purser/internal/document"
)

// place is the position of a value in a document's data, from its last step to its first. It is nil if positions are
// not recorded; then those below it are nil too.
type place struct {
	in *place // nil for the root

	step pathStep
}

// placeSize is the memory of a Place, in bytes.
const placeSize = 64

// member returns the place of a member with a key.
func (p *place) member(key string) *place {
	if p == nil {
		return nil
	}
	return &place{p, pathStep{kind: byKey, key: key}}
}

// item returns the place of an item of a list.
func (p *place) item(index int) *place {
	if p == nil {
		return nil
	}
	return &place{p, pathStep{kind: byIndex, index: index}}
}

// at returns the place of an item of a container, which is immutable.
func (p *place) at(container any, at int) *place {
	if p == nil {
		return nil
	}
	if m, ok := container.(document.Mapping); ok {
		return p.member(m[at].Key)
	}
	return p.item(at)
}

// steps returns the steps that lead to the place. The caller may change them.
func (p *place) steps() (steps []pathStep) {
	for ; p.in != nil; p = p.in {
		steps = append(steps, p.step)
	}
	slices.Reverse(steps)
	return steps
}
