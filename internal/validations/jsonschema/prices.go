package jsonschema

// Costs in steps of about a nanosecond. They were measured with the worst known inputs (cost_test.go checks them), so
// that ordinary checks take about half of the time that is counted.
const (
	visitSteps    = 200    // evaluating a schema against a value
	lookupSteps   = 60     // finding a property, or moving to a member or an item
	keyBytes      = 8      // bytes of a key that are read per step
	copyBytes     = 8      // bytes that are compared or searched per step
	combineSteps  = 30     // starting a branch of anyOf, oneOf or not
	branchSteps   = 20     // skipping a branch for values of another type
	errorSteps    = 100    // a violation
	placeSteps    = 10     // comparing a step of the paths of two violations
	spellSteps    = 5_000  // comparing two names for spelling
	sortSteps     = 30     // comparing two strings
	numberSteps   = 250    // exact arithmetic with one number
	powerSteps    = 2_000  // additionally, if it has a fraction or an exponent
	printSteps    = 100    // writing a value with printer
	printPower    = 12_000 // additionally, for a number with an exponent
	matchSteps    = 30     // matching a pattern
	matchByte     = 4      // additionally, for each byte and each instruction of the pattern
	formatSteps   = 300    // checking a format
	formatByte    = 20     // additionally, for each byte of the text
	decodeSteps   = 150    // reading a value of JSON text
	decodeByte    = 12     // additionally, for each of its bytes
	describeSteps = 10_000 // describing a violation
	splitByte     = 12     // additionally, for each byte of its paths
	describeByte  = 20     // additionally, for each byte of its message
	nodeSteps     = 1_500  // reading a schema
	extendSteps   = 5_000  // reading a value below a keyword of an extension
	programBase   = 10_000 // compiling a pattern
	programSteps  = 400    // additionally, for each of its instructions
)
