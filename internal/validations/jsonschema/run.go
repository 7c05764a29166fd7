package jsonschema

import (
	santhosh "github.com/santhosh-tekuri/jsonschema/v5"
)

// run is one check of a value by an instance of the library: where it is and what it has found.
type run struct {
	work

	data   extent
	frames []frame // schemas being evaluated, outermost first
	branch int     // how many frames there are outside the innermost branch of anyOf, oneOf or not; 0 outside them all
	held   int     // bytes of errors
	// Errors of references that point nowhere and that were reached.
	reached []*santhosh.ValidationError
}

// frame is the evaluation of a schema.
type frame struct {
	node     *node
	location int // bytes of the library's path to it, at most
	failed   bool
}

// enter counts and notes that a value is evaluated by a schema.
func (r *run) enter(n *node, v any) {
	location := n.label
	if last := len(r.frames) - 1; last >= 0 {
		location += r.frames[last].location
	}
	r.frames = append(r.frames, frame{node: n, location: location})
	r.spend(n.price.of(v) + depthSteps*len(r.frames) + r.data.visit)
}

// leave notes that the evaluation which was entered last has ended.
func (r *run) leave() { r.frames = r.frames[:len(r.frames)-1] }

// failed stands for any error within a branch of anyOf, oneOf or not, where nobody asks which.
var failed = &santhosh.ValidationError{Message: "failed"} //nolint:gochecknoglobals,errname // the library changes none

// fail returns the error of a keyword that is violated. The message is never empty: the library would take the error
// for a wrapper.
func (r *run) fail(ctx santhosh.ValidationContext, keyword, message string) error {
	r.mark()
	if r.branch > 0 {
		return failed
	}
	r.locate(len(r.frames)-1, 1)
	return ctx.Error(keyword, "%s", message)
}

// mark counts the errors that the library makes of one below: in each schema on the way out that has not failed yet, one
// that groups several, and one each for allOf and $ref that lead to it.
func (r *run) mark() {
	for i := len(r.frames) - 1; i >= r.branch && !r.frames[i].failed; i-- {
		r.frames[i].failed = true
		r.locate(i, 2)
	}
}

// locate counts errors at a frame, each of which has a path that the library puts together from that of all frames.
func (r *run) locate(at, errors int) {
	f := &r.frames[at]
	if f.node.wrapped {
		errors++
	}
	parts := 2 * (at + 1) // there can be a reference between every two
	r.spend(errors * (errorSteps + parts*(locationSteps+f.location/2/locationBytes) + r.data.path/locationBytes))
	if r.branch == 0 {
		const often = 1 << 16
		before := r.held / often
		r.held += errors * (errorBytes + f.location)
		if now := r.held / often; now > before {
			r.hold((now - before) * often)
		}
	}
}

// release gives back the memory of the errors.
func (r *run) release() { r.meter.Release(r.held / (1 << 16) * (1 << 16)) }
