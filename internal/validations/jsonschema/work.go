package jsonschema

import "purser/internal/budget"

// counter counts the work of reading schemas and checking data in a budget, and stops it when that is exceeded. Without
// a meter it counts nothing, as for the embedded metaschemas.
//
// It stops the work by panicking, because evaluation is recursive and most of its functions return whether the data is
// valid. The exported functions defer catchStop, so the panic is not visible outside.
type counter struct{ meter *budget.Meter }

// spend counts steps before they are done.
func (c counter) spend(steps int) {
	if c.meter != nil {
		c.must(c.meter.Spend(steps))
	}
}

// must stops the work if err is not nil.
func (c counter) must(err error) {
	if err != nil {
		panic(stop{err})
	}
}

// stop is the value with which a counter panics.
type stop struct{ err error }

// catchStop sets err to the error of stopped work, in a function that defers it. It does not wrap the error, so that
// budget.About recognizes it.
func catchStop(err *error) {
	switch r := recover().(type) {
	case nil:
	case stop:
		*err = r.err
	default:
		panic(r)
	}
}

// Costs in steps of about a nanosecond, besides those that are beside what they are for. They were measured with the
// worst known inputs (cost_test.go checks them), so that ordinary checks take about half of the time that is counted.
const (
	lookupSteps   = 60     // finding a property, or moving to a member or an item
	decodeByte    = 12     // reading a byte of JSON text
	describeByte  = 20     // writing a byte of a message, or reading one of a pattern or a pointer
	visitSteps    = 200    // evaluating a schema against a value
	combineSteps  = 30     // starting a branch of anyOf, oneOf or not
	branchSteps   = 20     // skipping a branch for values of another type
	errorSteps    = 100    // a violation
	placeSteps    = 10     // comparing a step of the paths of two violations
	spellSteps    = 5_000  // comparing two names for spelling
	describeSteps = 10_000 // describing a violation
	splitByte     = 12     // additionally, for each byte of its paths
	nodeSteps     = 2_500  // reading a schema
	targetSteps   = 2_000  // finding the target of a reference
	sourceSteps   = 5_000  // reading another document, besides its text and its schemas
	extendSteps   = 5_000  // reading a value below a keyword of an extension
)

// findSteps returns the cost of finding a key.
func findSteps(key string) int {
	const keyBytes = 8 // that are read per step
	return lookupSteps + len(key)/keyBytes
}
