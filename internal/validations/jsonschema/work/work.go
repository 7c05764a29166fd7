// Package work counts the work of reading schemas and checking data, and stops it when the request's budget is
// exceeded.
//
// It stops the work by panicking, because evaluation is recursive and most of its functions return whether the data is
// valid. Those functions of package jsonschema that others call defer Stopped, so the panic is not visible outside.
//
// Costs are steps of about a nanosecond. They were measured with the worst known inputs (cost_test.go of package
// jsonschema checks them), so that ordinary checks take about half of the time that is counted. The costs that one
// package has alone are in that package.
package work

import (
	"purser/internal/budget"
)

// Costs in steps that several packages have.
const (
	Lookup       = 60 // finding a property, or moving to a member or an item
	DecodeByte   = 12 // reading a byte of JSON text
	DescribeByte = 20 // writing a byte of a message, or reading one of a pattern or a pointer
)

// Find returns the cost of finding a key.
func Find(key string) int {
	const keyBytes = 8 // that are read per step
	return Lookup + len(key)/keyBytes
}

// Counter counts steps in a budget. Without a meter it counts nothing, as for the embedded metaschemas.
type Counter struct{ Meter *budget.Meter }

// Spend counts steps before they are done.
func (c Counter) Spend(steps int) {
	if c.Meter != nil {
		c.Must(c.Meter.Spend(steps))
	}
}

// Must stops the work if err is not nil.
func (c Counter) Must(err error) {
	if err != nil {
		panic(stop{err})
	}
}

// stop is the value with which a Counter panics.
type stop struct{ err error }

// Stopped sets err to the error of stopped work, in a function that defers it. It does not wrap the error, so that
// budget.About recognizes it.
func Stopped(err *error) {
	switch r := recover().(type) {
	case nil:
	case stop:
		*err = r.err
	default:
		panic(r)
	}
}
