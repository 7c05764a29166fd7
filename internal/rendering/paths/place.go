package paths

import (
	"slices"

	"purser/internal/document"
)

// Place is the position of a value in a document's data, from its last step to its first. It is nil if positions are
// not recorded; then those below it are nil too.
type Place struct {
	In *Place // nil for the root

	step Step
}

// PlaceSize is the memory of a Place, in bytes.
const PlaceSize = 64

// Member returns the place of a member with a key.
func (p *Place) Member(key string) *Place {
	if p == nil {
		return nil
	}
	return &Place{p, Step{Kind: ByKey, Key: key}}
}

// Item returns the place of an item of a list.
func (p *Place) Item(index int) *Place {
	if p == nil {
		return nil
	}
	return &Place{p, Step{Kind: ByIndex, Index: index}}
}

// At returns the place of an item of a container, which is immutable.
func (p *Place) At(container any, at int) *Place {
	if p == nil {
		return nil
	}
	if m, ok := container.(document.Mapping); ok {
		return p.Member(m[at].Key)
	}
	return p.Item(at)
}

// Steps returns the steps that lead to the place. The caller may change them.
func (p *Place) Steps() (steps []Step) {
	for ; p.In != nil; p = p.In {
		steps = append(steps, p.step)
	}
	slices.Reverse(steps)
	return steps
}
