package jsonschema

import (
	santhosh "github.com/santhosh-tekuri/jsonschema/v5"
)

// run is one check of a value by an instance of the library: where it is and what it has found.
type run struct {
	work

	data     extent
	versions map[string]string // of client plugins, for the keywords that others add
	frames   []frame           // schemas being evaluated, outermost first
	branch   int               // frames outside the innermost branch of anyOf, oneOf or not; 0 outside them all
	held     int               // bytes of errors
	// Errors of references that point nowhere and that were reached.
	reached []*santhosh.ValidationError
}

// frame is the evaluation of a schema.
type frame struct {
	node     *node
	depth    int // schemas on the library's path to it, itself included
	location int // bytes of that path, at most
	errors   int
}

// enter counts and notes that a value is evaluated by a schema.
func (r *run) enter(n *node, v any) {
	f := frame{node: n, depth: 1 + btoi(n.wrapped), location: n.label}
	if last := len(r.frames) - 1; last >= 0 {
		f.depth += r.frames[last].depth
		f.location += r.frames[last].location
	}
	r.frames = append(r.frames, f)
	steps := n.price.of(v) + depthSteps*f.depth
	if n.below {
		steps += r.data.path/pathBytes + r.data.key*escapeByte
	}
	r.spend(steps)
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
	r.keep(len(message) + r.data.path)
	return ctx.Error(keyword, "%s", message) //nolint:wrapcheck // as the library wants it
}

// mark counts the errors that the library makes of one below, in each schema on the way out: one each where an allOf or
// a reference leads to it, and one that groups all when there is a second.
func (r *run) mark() {
	for i := len(r.frames) - 1; i >= r.branch; i-- {
		f := &r.frames[i]
		if f.errors++; f.errors > 1 {
			if f.errors == 2 {
				r.locate(i, 1)
			}
			return // those further out know already that it has failed
		}
		if errors := btoi(f.node.wrapped) + btoi(f.node.inAllOf); errors > 0 {
			r.locate(i, errors)
		}
	}
}

// locate counts errors at a frame, each of which has a path that the library puts together from that of all frames.
func (r *run) locate(at, errors int) {
	f := &r.frames[at]
	r.spend(errors * (errorSteps + f.depth*(locationSteps+f.location/2/pathBytes)))
	if r.branch == 0 {
		r.keep(errors * (errorBytes + f.location))
	}
}

// keep counts bytes of errors, now and then: it takes longer than counting steps.
func (r *run) keep(bytes int) {
	before := r.held / often
	r.held += bytes
	if now := r.held / often; now > before {
		r.hold((now - before) * often)
	}
}

// often is how many bytes are counted at once.
const often = 64 << 10

// release gives back the memory of the errors.
func (r *run) release() { r.meter.Release(r.held / often * often) }
