package jsonschema

import (
	"purser/internal/budget"
)

// work counts steps, and ends a check or a compilation that takes too many of them.
//
// It ends them by a panic, because the library cannot be told to stop and would otherwise go on for as long as the
// schema makes it. Check and Compile recover it (stopped), so that nothing of it is seen outside this package. The
// library recovers no panics but its own, and keeps no state that one could leave half changed.
//
// Without a meter nothing is counted: that is for what is embedded.
type work struct{ meter *budget.Meter }

// stop is the value of work's panics.
type stop struct{ err error }

// spend counts steps that are about to be done.
func (w work) spend(steps int) {
	if w.meter != nil {
		w.must(w.meter.Spend(steps))
	}
}

// must stops the work if there is an error.
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

// stopped gives the error of work that was stopped to the function that defers it. The error is not wrapped: to
// budget.About it is then still the one that came from the budget.
func stopped(err *error) {
	switch r := recover().(type) {
	case nil:
	case stop:
		*err = r.err
	default:
		panic(r)
	}
}
