package jsonschema

import (
	"purser/internal/budget"
)

// work counts steps, and stops a check or a compilation that exceeds the budget.
//
// It stops by panicking, because the library cannot be stopped otherwise. Check and Compile recover the panic (see
// stopped), so that it is not visible outside of this package. The library recovers only its own panics, and keeps no
// state that a panic could corrupt.
//
// Without a meter nothing is counted, as for the embedded metaschemas.
type work struct{ meter *budget.Meter }

// stop is the value with which work panics.
type stop struct{ err error }

// spend counts steps before they are done.
func (w work) spend(steps int) {
	if w.meter != nil {
		w.must(w.meter.Spend(steps))
	}
}

// must stops the work if err is not nil.
func (w work) must(err error) {
	if err != nil {
		panic(stop{err})
	}
}

// matches reports whether the pattern matches anywhere in the text.
func (w work) matches(p *pattern, text string) bool {
	w.spend(p.steps(len(text)))
	return p.compiled.MatchString(text)
}

// stopped sets err to the error of stopped work, in a function that defers it. It does not wrap the error, so that
// budget.About recognizes it.
func stopped(err *error) {
	switch r := recover().(type) {
	case nil:
	case stop:
		*err = r.err
	default:
		panic(r)
	}
}
