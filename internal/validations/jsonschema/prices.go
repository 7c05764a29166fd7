package jsonschema

// What is counted, in steps of about a nanosecond. The figures were measured with the worst inputs that could be
// thought of (cost_test.go holds them to it), so that ordinary checks take about half of what is counted.
const (
	visitSteps    = 200    // evaluating a schema against a value
	lookupSteps   = 60     // looking for a property, or going to a member or an item
	keyBytes      = 8      // bytes of a key that are read in a step
	copyBytes     = 8      // bytes that are compared or searched in a step
	combineSteps  = 30     // beginning with a branch of anyOf, oneOf or not
	branchSteps   = 20     // passing over a branch that takes values of another type
	errorSteps    = 100    // a violation
	placeSteps    = 10     // comparing a step of the places of two violations
	spellSteps    = 5_000  // comparing two names that may be misspelt
	sortSteps     = 30     // comparing two texts
	numberSteps   = 250    // exact arithmetic with one number
	powerSteps    = 2_000  // the same, more, if it has a fraction or an exponent
	printSteps    = 100    // writing a value such that equal ones give the same text
	printPower    = 12_000 // the same for a number with an exponent
	matchSteps    = 30     // matching a pattern
	matchByte     = 4      // the same for each byte and each instruction of the pattern
	formatSteps   = 300    // checking a format
	formatByte    = 20     // the same for each byte of the text
	decodeSteps   = 150    // reading a value of JSON text
	decodeByte    = 12     // the same for each of its bytes
	describeSteps = 10_000 // describing a violation
	splitByte     = 12     // the same for each byte of its paths
	describeByte  = 20     // the same for each byte of its message
	nodeSteps     = 1_500  // reading a schema
	extendSteps   = 5_000  // reading a value below a keyword that others add
	programBase   = 10_000 // compiling a pattern
	programSteps  = 400    // the same for each of its instructions
)
