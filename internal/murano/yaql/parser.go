package yaql

import "math"

// Node is a part of an expression: an operation with its arguments, or a value.
//
// Op is the name of a function or one of: "#operator_" or "#unary_operator_" followed by an operator, "*equal",
// "*not_equal", "#indexer", "#list", "#map", "=>" (a named argument, or a pair of a map), "novalue" (an omitted
// argument), "()", "const", "kw" (a name) and "var". For the last three, Text is the value as written.
type Node struct {
	Op   string
	Text string
	Args []*Node
}

// IsCall reports whether the node is a call of a function.
func (n *Node) IsCall() bool {
	switch n.Op {
	case "=>", "novalue", "()", "const", "kw", "var":
		return false
	}
	return n.Op[0] != '#' && n.Op[0] != '*'
}

// maxDepth bounds the nesting of expressions.
const maxDepth = 500

// Parse parses an expression. The error is an *Error. The cost is linear in the length of the text.
func Parse(text string, engine Engine) (*Node, error) {
	p := &parser{lexer: lexer{in: text, engine: engine}}
	p.advance()
	node := p.expression(0)
	if p.token.kind != end {
		p.unexpected()
	}
	if p.err != nil {
		return nil, p.err
	}
	return node, nil
}

// Valid reports whether a text is a valid expression.
func Valid(text string, engine Engine) bool {
	_, err := Parse(text, engine)
	return err == nil
}

// parser is a Pratt parser with one token of lookahead. After an error all tokens are the end of the text, so that the
// parser returns, with nodes that are not used.
type parser struct {
	lexer lexer
	token token
	depth int
	err   error // the first one
}

// The binding strengths of operators.
const (
	bindNamespace = 110
	bindIndex     = 90
	bindSign      = 80
	bindNot       = 30
	bindArrow     = 0
)

var binary = map[string]int{
	":": bindNamespace, ".": 100, "?.": 100, "=~": 70, "!~": 70, "*": 60, "/": 60, "mod": 60, "+": 50, "-": 50,
	">": 40, "<": 40, ">=": 40, "<=": 40, "!=": 40, "=": 40, "in": 40, "is": 40, "and": 20, "or": 10, "->": bindArrow,
}

var prefix = map[string]int{
	":": bindNamespace, "+": bindSign, "-": bindSign, "not": bindNot,
}

func (p *parser) advance() {
	if p.err == nil {
		p.token, p.err = p.lexer.next()
	}
}

// unexpected fails at the current token, unless there was an error before.
func (p *parser) unexpected() *Node {
	if p.err == nil {
		p.err = &Error{Pos: p.token.pos, Token: p.token.text}
	}
	p.token = token{kind: end, pos: -1}
	return nil
}

func (p *parser) is(kind kind, text string) bool { return p.token.kind == kind && p.token.text == text }

// leaf returns a node of the current token, and moves to the next one.
func (p *parser) leaf(op string) *Node {
	n := &Node{Op: op, Text: p.token.text}
	p.advance()
	return n
}

// expression parses an expression whose operators bind at least as strongly as least.
func (p *parser) expression(least int) *Node {
	if p.depth++; p.depth > maxDepth {
		return p.unexpected()
	}
	defer func() { p.depth-- }()
	left := p.operand()
	for {
		if p.is(delimiter, "[") && bindIndex >= least {
			left = p.sequence("#indexer", "]", left)
			continue
		}
		bind, isBinary := binary[p.token.text]
		if p.token.kind != operator || !isBinary || bind < least {
			return left
		}
		left = p.binary(left, bind)
	}
}

// binary parses an operator and its right operand.
func (p *parser) binary(left *Node, bind int) *Node {
	op := "#operator_" + p.token.text
	switch p.token.text {
	case "=":
		op = "*equal"
	case "!=":
		op = "*not_equal"
	}
	p.advance()
	least := bind + 1
	if bind == bindArrow { // associates to the right
		least = bind
	}
	return &Node{Op: op, Args: []*Node{left, p.expression(least)}}
}

// operand parses a value, or a prefix operator with its operand.
func (p *parser) operand() *Node {
	t := p.token
	switch t.kind {
	case operator:
		bind, isPrefix := prefix[t.text]
		if !isPrefix {
			return p.unexpected()
		}
		p.advance()
		return &Node{Op: "#unary_operator_" + t.text, Args: []*Node{p.expression(bind + 1)}}
	case text, number, constant:
		return p.leaf("const")
	case name:
		return p.leaf("kw")
	case variable:
		return p.leaf("var")
	case function:
		return p.sequence(t.text, ")")
	case delimiter:
		switch t.text {
		case "(":
			return p.parenthesis()
		case "[":
			return p.sequence("#list", "]")
		case "{":
			return p.sequence("#map", "}")
		}
	case end:
	}
	return p.unexpected()
}

func (p *parser) parenthesis() *Node {
	p.advance()
	node := &Node{Op: "()", Args: []*Node{p.expression(0)}}
	if !p.is(delimiter, ")") {
		return p.unexpected()
	}
	p.advance()
	return node
}

// sequence parses arguments up to a closing delimiter and appends them to the given ones.
func (p *parser) sequence(op, closing string, given ...*Node) *Node {
	node := &Node{Op: op, Args: given}
	p.advance()
	for first, named, most := true, false, math.MaxInt; ; first = false {
		commas := p.commas()
		switch {
		case p.is(delimiter, closing) && first && commas == 0:
			p.advance()
			return node
		case !first && commas == 0 || commas > most:
			return p.unexpected()
		}
		omitted := commas
		if !first {
			omitted--
		}
		for range omitted {
			node.Args = append(node.Args, &Node{Op: "novalue"})
		}
		var argument *Node
		argument, named = p.argument(named, first && commas > 0 || commas > maxBeforeNamed)
		if named {
			most = 1
		}
		if node.Args = append(node.Args, argument); p.is(delimiter, closing) {
			p.advance()
			return node
		}
	}
}

// maxBeforeNamed is the maximum number of commas before the first named argument: one argument may be omitted there.
const maxBeforeNamed = 2

// commas skips commas and returns their number.
func (p *parser) commas() (n int) {
	for ; p.is(delimiter, ","); n++ {
		p.advance()
	}
	return n
}

// argument parses an argument and reports whether it is named: key => value. After a named one, all must be named.
func (p *parser) argument(named, positional bool) (argument *Node, isNamed bool) {
	argument = p.expression(0)
	isNamed = p.is(operator, "=>")
	switch {
	case !isNamed && !named:
		return argument, false
	case !isNamed, positional:
		return p.unexpected(), false
	}
	p.advance()
	return &Node{Op: "=>", Args: []*Node{argument, p.expression(0)}}, true
}
