package jsonschema

// Costs in steps, besides those of package work.
const (
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
