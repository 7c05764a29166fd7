package jsonschema

// What is counted, in steps of about a nanosecond. The figures were measured with the worst inputs that could be
// thought of (cost_test.go holds them to it), so that ordinary checks take about half of what is counted.
const (
	visitSteps    = 700    // evaluating a schema against a value
	depthSteps    = 6      // for each schema that leads to it: the library copies the list of them
	memberSteps   = 120    // for each member or item of the value: the library makes a set of them
	lookupSteps   = 40     // looking for a property
	branchSteps   = 20     // passing over a branch that takes values of another type
	keyBytes      = 8      // bytes of a key that are read in a step
	escapeByte    = 6      // writing a byte of a key in a path
	copyBytes     = 16     // bytes of texts that are searched in a step
	errorSteps    = 500    // an error of the library
	locationSteps = 70     // for each schema that leads to it: its path is written in as many parts
	locationBytes = 4      // bytes of a path that are copied in a step
	errorBytes    = 200    // of memory that an error takes, without its paths
	numberSteps   = 600    // exact arithmetic with one number
	powerSteps    = 12_000 // the same if it has an exponent
	printSteps    = 100    // writing a value such that equal ones give the same text
	matchSteps    = 100    // matching a pattern
	matchByte     = 6      // the same for each byte and each instruction of the pattern
	decodeSteps   = 150    // reading a value of JSON text
	decodeByte    = 12     // the same for each of its bytes
	compareSteps  = 100    // comparing the places of two errors
	compareByte   = 8
	describeSteps = 20_000 // describing a violation
	describeByte  = 40     // for each byte of its paths and its message
	nodeSteps     = 1_500  // reading a schema
	compileSteps  = 90_000 // compiling it by the library
	compileByte   = 150    // the same for each byte of what the library reads
	programSteps  = 1_000  // compiling an instruction of a pattern
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
	n.price = price{value: visitSteps, member: memberSteps}
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
	if n.wrapped {
		n.price.value *= 2
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
