package propertygroups

import "purser/internal/words"

// Bounds of texts, in bytes.
const (
	maxMessage = 2 << 10
	maxName    = 200 // of a group, a plugin, a version
	maxList    = 600 // of properties or versions
)

// text is a buffer for up to maxList bytes. Writers should stop when it is full.
type text struct{ b []byte }

func (t *text) isFull() bool { return len(t.b) > maxList }

func (t *text) String() string { return words.FirstBytes(string(t.b), maxList) }

func (t *text) add(s string) {
	t.b = append(t.b, s[:min(len(s), maxList+1-min(len(t.b), maxList+1))]...)
}

// operands writes the operands that keep selects, with one separator before the second and another before later ones.
func (t *text) operands(operands []operand, keep func(operand) bool, first, others string) {
	separator := ""
	for _, o := range operands {
		if t.isFull() {
			return
		}
		if keep != nil && !keep(o) {
			continue
		}
		t.add(separator)
		t.operand(o)
		if separator == "" {
			separator = first
		} else {
			separator = others
		}
	}
}

func (t *text) operand(o operand) {
	if o.group == nil {
		t.path(o.path)
		return
	}
	t.add("(")
	t.group(o.group)
	t.add(")")
}

// group writes a group without parentheses.
func (t *text) group(g *group) {
	first, others := " and ", " and "
	switch g.operator {
	case or:
		first, others = " or ", " or "
	case xor:
		first, others = " xor ", " xor "
	case dependsOn:
		first = " depends on "
	case and, noOperator:
	}
	t.operands(g.operands, nil, first, others)
}

func (t *text) path(path []string) {
	for i, part := range path {
		if t.isFull() {
			return
		}
		if i > 0 {
			t.add(".")
		}
		t.add(part)
	}
}

// listed returns a list of the operands that keep selects, of all if it is nil.
func listed(operands []operand, keep func(operand) bool) string {
	t := new(text)
	t.operands(operands, keep, ", ", ", ")
	return t.String()
}

func dotted(path []string) string {
	t := new(text)
	t.path(path)
	return t.String()
}

func (l *support) listed(separator string) string {
	t := new(text)
	for i, v := range l.versions {
		if t.isFull() {
			break
		}
		if i > 0 {
			t.add(separator)
		}
		t.add(words.FirstBytes(v.text, maxName))
	}
	return t.String()
}
