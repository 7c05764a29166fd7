package jsonschema

// What is counted, in steps of about a nanosecond. The figures were measured with the worst inputs that could be
// thought of (cost_test.go holds them to it), so that ordinary checks take about half of what is counted.
const (
	visitSteps    = 400     // evaluating a schema against a value
	objectSteps   = 400     // the same, more, if the value is an object
	belowSteps    = 350     // the same, more, if the value is a member or an item of that evaluated before
	memberSteps   = 120     // the same for each member or item of the value, of which the library makes a set
	depthSteps    = 6       // the same for each schema that leads to it: the library copies the list of them
	lookupSteps   = 40      // looking for a property
	keyBytes      = 8       // bytes of a key that are read in a step
	escapeByte    = 6       // writing a byte of a key in a path
	pathBytes     = 4       // bytes of a path that are copied in a step
	copyBytes     = 8       // bytes that are compared or searched in a step
	combineSteps  = 150     // beginning with the branches of anyOf, oneOf or not
	branchSteps   = 10      // passing over a branch that takes values of another type
	errorSteps    = 500     // an error of the library
	locationSteps = 60      // the same for each schema that leads to it: its path is put together from as many parts
	errorBytes    = 200     // memory that an error takes, without its paths
	numberSteps   = 250     // exact arithmetic with one number
	powerSteps    = 2_000   // the same, more, if it has an exponent
	printSteps    = 100     // writing a value such that equal ones give the same text
	printPower    = 12_000  // the same for a number with an exponent
	matchSteps    = 30      // matching a pattern
	matchByte     = 4       // the same for each byte and each instruction of the pattern
	decodeSteps   = 150     // reading a value of JSON text
	decodeByte    = 12      // the same for each of its bytes
	compareSteps  = 30      // comparing a step of the places of two errors
	describeSteps = 10_000  // describing a violation
	splitByte     = 12      // the same for each byte of its paths
	describeByte  = 20      // the same for each byte of its message
	nodeSteps     = 1_500   // reading a schema
	extendSteps   = 5_000   // reading a value below a keyword that others add
	compileBase   = 150_000 // compiling by the library, whatever the schema
	compileSteps  = 15_000  // the same for each schema in it
	compileByte   = 40      // the same for each byte of what the library reads
	programBase   = 10_000  // compiling a pattern
	programSteps  = 400     // the same for each of its instructions
)

// price is what evaluating a schema takes before the schemas it leads to are evaluated and without its assertions.
type price struct {
	value          int // whatever the value is
	object         int // if it is an object
	member         int // for each member or item
	patterns, size int // of patternProperties, which every key is matched with; and their instructions
}

// setPrice notes what evaluating the schema takes, once it is known how the library gets it.
func (n *node) setPrice() {
	n.price = price{value: visitSteps, object: objectSteps, member: memberSteps}
	for i := range n.edges {
		switch e := &n.edges[i]; e.keyword {
		case "properties", "dependencies":
			n.price.object += lookupSteps + len(e.name)/keyBytes
		case "patternProperties":
			n.price.patterns++
			n.price.size += e.pattern.size
		case "allOf":
			n.price.value += lookupSteps
			n.price.member += memberSteps // the set is compared with that of each schema that holds
		}
	}
	if n.below {
		n.price.value += belowSteps
	}
	if n.wrapped {
		n.price.value *= 2
		n.price.object += objectSteps
		n.price.member *= 2
	}
}

// of returns the steps for a value.
func (p *price) of(v any) int {
	switch v := v.(type) {
	case []any:
		return p.value + p.member*len(v)
	case map[string]any:
		steps := p.value + p.object + p.member*len(v)
		if p.patterns > 0 {
			for key := range v {
				steps += p.patterns*matchSteps + p.size*(len(key)+1)*matchByte
			}
		}
		return steps
	}
	return p.value
}
