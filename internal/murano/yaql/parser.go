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
	if err := p.advance(); err != nil {
		return nil, err
	}
	node, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	if p.token.kind != end {
		return nil, p.unexpected()
	}
	return node, nil
}

// Valid reports whether a text is a valid expression.
func Valid(text string, engine Engine) bool {
	_, err := Parse(text, engine)
	return err == nil
}

// parser is a Pratt parser with one token of lookahead.
type parser struct {
	lexer lexer
	token token
	depth int
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

func (p *parser) advance() (err error) {
	p.token, err = p.lexer.next()
	return err
}

func (p *parser) unexpected() error {
	if p.token.kind == end {
		return &Error{Pos: -1}
	}
	return &Error{Pos: p.token.pos, Token: p.token.text}
}

func (p *parser) is(kind kind, text string) bool { return p.token.kind == kind && p.token.text == text }

// expression parses an expression whose operators bind at least as strongly as least.
func (p *parser) expression(least int) (*Node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.unexpected()
	}
	defer func() { p.depth-- }()
	left, err := p.operand()
	for err == nil {
		if p.is(delimiter, "[") && bindIndex >= least {
			left, err = p.sequence("#indexer", "]", left)
			continue
		}
		bind, isBinary := binary[p.token.text]
		if p.token.kind != operator || !isBinary || bind < least {
			return left, nil
		}
		left, err = p.binary(left, bind)
	}
	return nil, err
}

// binary parses an operator and its right operand.
func (p *parser) binary(left *Node, bind int) (*Node, error) {
	op := "#operator_" + p.token.text
	switch p.token.text {
	case "=":
		op = "*equal"
	case "!=":
		op = "*not_equal"
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	least := bind + 1
	if bind == bindArrow { // associates to the right
		least = bind
	}
	right, err := p.expression(least)
	if err != nil {
		return nil, err
	}
	return &Node{Op: op, Args: []*Node{left, right}}, nil
}

// operand parses a value, or a prefix operator with its operand.
func (p *parser) operand() (*Node, error) {
	t := p.token
	switch t.kind {
	case operator:
		bind, isPrefix := prefix[t.text]
		if !isPrefix {
			return nil, p.unexpected()
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		operand, err := p.expression(bind + 1)
		if err != nil {
			return nil, err
		}
		return &Node{Op: "#unary_operator_" + t.text, Args: []*Node{operand}}, nil
	case text, number, constant:
		return &Node{Op: "const", Text: t.text}, p.advance()
	case name:
		return &Node{Op: "kw", Text: t.text}, p.advance()
	case variable:
		return &Node{Op: "var", Text: t.text}, p.advance()
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
	return nil, p.unexpected()
}

func (p *parser) parenthesis() (*Node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	inside, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	if !p.is(delimiter, ")") {
		return nil, p.unexpected()
	}
	return &Node{Op: "()", Args: []*Node{inside}}, p.advance()
}

// sequence parses arguments up to a closing delimiter and appends them to the given ones.
func (p *parser) sequence(op, closing string, given ...*Node) (*Node, error) {
	node := &Node{Op: op, Args: given}
	if err := p.advance(); err != nil {
		return nil, err
	}
	for first, named, most := true, false, math.MaxInt; ; first = false {
		commas, err := p.commas()
		switch {
		case err != nil:
			return nil, err
		case p.is(delimiter, closing) && first && commas == 0:
			return node, p.advance()
		case !first && commas == 0 || commas > most:
			return nil, p.unexpected()
		}
		omitted := commas
		if !first {
			omitted--
		}
		for range omitted {
			node.Args = append(node.Args, &Node{Op: "novalue"})
		}
		argument, isNamed, err := p.argument(named, first && commas > 0 || commas > maxBeforeNamed)
		if err != nil {
			return nil, err
		}
		if named = isNamed; named {
			most = 1
		}
		node.Args = append(node.Args, argument)
		if p.is(delimiter, closing) {
			return node, p.advance()
		}
	}
}

// maxBeforeNamed is the maximum number of commas before the first named argument: one argument may be omitted there.
const maxBeforeNamed = 2

// commas skips commas and returns their number.
func (p *parser) commas() (n int, err error) {
	for ; p.is(delimiter, ",") && err == nil; n++ {
		err = p.advance()
	}
	return n, err
}

// argument parses an argument and reports whether it is named: key => value. After a named one, all must be named.
func (p *parser) argument(named, positional bool) (*Node, bool, error) {
	value, err := p.expression(0)
	if err != nil {
		return nil, false, err
	}
	if !p.is(operator, "=>") {
		if named {
			return nil, false, p.unexpected()
		}
		return value, false, nil
	}
	if positional {
		return nil, false, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return nil, false, err
	}
	right, err := p.expression(0)
	if err != nil {
		return nil, false, err
	}
	return &Node{Op: "=>", Args: []*Node{value, right}}, true, nil
}
